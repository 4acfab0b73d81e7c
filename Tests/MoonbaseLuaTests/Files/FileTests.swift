import MoonbaseLua
import MoonbasePlatform
import Testing

/// `io` and `os` over granted files.
@Suite final class FileTests {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("files \(UUID().uuidString)")
    for name in ["in", "out", "secret"] {
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
    }
    try Data("one\ntwo\nthree".utf8).write(to: folder.appendingPathComponent("in/lines.txt"))
    try Data("hidden".utf8).write(to: folder.appendingPathComponent("secret/key"))
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func run(_ code: String, limits: LuaLimits = LuaLimits()) throws -> [LuaValue] {
    let state = try LuaState(limits: limits)
    try state.openFiles(
      LuaFileAccess(
        readable: [folder.appendingPathComponent("in")], writable: [folder.appendingPathComponent("out")],
        variables: ["HOME"]))
    let environment = try state.environment(["folder": .text(folder.path)])
    return try state.load(code, name: "test.lua", in: environment)()
  }

  private func text(_ code: String) throws -> String {
    guard case .string(let text)? = try run(code).first else { return "nothing" }
    return text.text ?? "no text"
  }

  @Test func linesOfAFileAreRead() throws {
    let code =
      "local t = {} for l in io.lines(folder .. '/in/lines.txt') do t[#t + 1] = l end return table.concat(t, '|')"
    #expect(try text(code) == "one|two|three")
  }

  @Test func everyFormatOfReadingWorks() throws {
    let code = """
      local f = assert(io.open(folder .. '/in/lines.txt'))
      local a, b, c, d = f:read('L', 2, 'a', 'l')
      return a .. '|' .. b .. '|' .. c .. '|' .. tostring(d)
      """
    #expect(try text(code) == "one\n|tw|o\nthree|nil")
  }

  @Test func whatIsWrittenIsReadAgain() throws {
    let code = """
      local name = folder .. '/out/new.txt'
      local f <close> = assert(io.open(name, 'w'))
      assert(f:write('a', 1, 2.5, 3.0, '\\n'):write('b'))
      f:flush()
      return io.open(name):read('a') .. f:seek('cur')
      """
    #expect(try text(code) == "a12.53.0\nb10")
  }

  @Test func aPlaceBeyondAllPlacesIsRefused() throws {
    let code = """
      local f <close> = assert(io.open(folder .. '/in/lines.txt'))
      f:read(1)
      local place, problem = f:seek('cur', math.mininteger)
      assert(place == nil and f:seek('cur', math.maxinteger) == nil)
      return problem .. f:read('l')
      """
    #expect(try text(code).hasSuffix("ne"))
  }

  @Test func numbersAreRead() throws {
    let code = """
      local name = folder .. '/out/numbers'
      local f = io.open(name, 'w') f:write(' 12 -3.5 0x10 x') f:close()
      local g = io.open(name)
      local a, b = g:read('n', 'n')
      return math.type(a) .. a .. b
      """
    #expect(try text(code) == "integer12-3.5")
  }

  @Test(
    arguments: [
      "folder .. '/secret/key'", "folder .. '/in/../secret/key'", "'/etc/passwd'", "folder .. '/in/link'",
      "folder .. '/in/lines.txt\\0'", "folder", "folder .. '/inside'", "''",
    ])
  func nothingElseIsRead(_ path: String) throws {
    try? FileManager.default.createSymbolicLink(
      at: folder.appendingPathComponent("in/link"), withDestinationURL: folder.appendingPathComponent("secret/key"))
    #expect(try text("local f, message = io.open(\(path)) return f and 'open' or message").contains("not granted"))
    #expect(throws: LuaError.self) { try run("for l in io.lines(\(path)) do end") }
  }

  @Test(
    arguments: [
      "folder .. '/in/lines.txt'", "folder .. '/new'", "folder .. '/out/../new'", "folder .. '/out/link'",
      "folder .. '/out/dangling'",
    ])
  func nothingElseIsWritten(_ path: String) throws {
    let out = folder.appendingPathComponent("out")
    try? FileManager.default.createSymbolicLink(
      at: out.appendingPathComponent("link"), withDestinationURL: folder.appendingPathComponent("secret/key"))
    try? FileManager.default.createSymbolicLink(
      at: out.appendingPathComponent("dangling"), withDestinationURL: folder.appendingPathComponent("secret/new"))
    for mode in ["w", "a", "r+"] {
      #expect(try text("local f, m = io.open(\(path), '\(mode)') return f and 'open' or m").contains("not granted"))
    }
    // Removing a link affects the link itself, if its folder is writable, not its destination.
    let isLink = path.contains("/out/") && !path.contains("/../")
    let answer = try text("local ok, m = os.remove(\(path)) return ok and 'gone' or m")
    #expect(isLink ? answer == "gone" : answer.contains("not granted"), "\(answer)")
    #expect(try Data(contentsOf: folder.appendingPathComponent("secret/key")) == Data("hidden".utf8))
  }

  @Test func aFolderIsNoFile() throws {
    #expect(try text("local f, m, n = io.open(folder .. '/in') return m").contains("irectory"))
  }

  @Test func aPipeThatNobodyWritesIsWaitedForAsLongAsTheRunMayTake() throws {
    try #require(mkfifo(folder.appendingPathComponent("in/pipe").path, 0o600) == 0)
    for code in ["return io.lines(folder .. '/in/pipe')()", "return io.open(folder .. '/in/pipe'):read()"] {
      let error = #expect(throws: LuaError.self) { try run(code, limits: LuaLimits(deadline: .seconds(0.2))) }
      #expect(error?.kind == .limit(.deadline), "\(code)")
    }
    #expect(try text("return select(2, pcall(io.lines, folder .. '/in'))").hasSuffix("/in: Is a directory"))
  }

  /// Paths, modes and module names of scripts may have any length.
  @Test(arguments: [
    "select(2, io.open(long))", "select(2, pcall(io.lines, long))", "select(2, os.remove(long))",
    "select(2, os.rename(long, long))",
  ])
  func aPathThatIsTooLongIsToldByItsBeginning(_ code: String) throws {
    let message = try text("local long = ('é/'):rep(1 << 20) return \(code)")
    #expect(message.hasSuffix("…: File name too long") && message.utf8.count < 300, "\(message.prefix(500))")
    #expect(
      try text("return select(2, pcall(io.open, folder .. '/in/lines.txt', ('b'):rep(1 << 20)))")
        .contains("invalid mode"))
  }

  @Test func aLongNameOfAModuleIsToldByItsBeginning() throws {
    let message = try text("return tostring(select(2, pcall(require, ('.'):rep(20 << 20))))")
    #expect(message.contains("…' is no module name"), "\(message.prefix(500))")
  }

  /// A file released with its last reference is not flushed when its pipe is full and has no reader.
  @Test func whatAFullPipeDoesNotTakeIsDroppedWhenItsFileGoes() throws {
    try #require(mkfifo(folder.appendingPathComponent("out/pipe").path, 0o600) == 0)
    let fill = """
      local f = assert(io.open(folder .. '/out/pipe', 'r+'))
      for _ = 1, 16 do f:write(('x'):rep(4096)) end
      f:flush()
      f:write('rest')
      """
    #expect(try text(fill + " f = nil collectgarbage() return 'done'") == "done")
    #expect(try text(fill + " return 'done'") == "done")
  }

  @Test func aClosedFileSaysSo() throws {
    #expect(throws: LuaError.self) { try run("local f = io.open(folder .. '/in/lines.txt') f:close() f:read()") }
  }

  @Test func onlyGrantedVariablesAreKnown() throws {
    #expect(try text("return tostring(os.getenv('PATH'))") == "nil")
    #expect(try text("return tostring(os.getenv('HOME') ~= nil)") == "true")
  }

  @Test func theLibraryIsFrozen() throws {
    #expect(throws: LuaError.self) { try run("io.open = nil") }
  }
}
