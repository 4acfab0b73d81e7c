import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// File operations of scripts on the files of a store that they have open.
@Suite struct OpenStoreFileTests {
  private let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(
      "return { entities = { P = { attributes = { i = 'integer64', b = { 'binary', external_storage = true } } } } }",
      to: "m.lua")
  }

  /// Runs code over an open store with a row in it.
  private func run(_ code: String) throws -> Workbench.Outcome {
    let opening = "local c = moonbase.context c:insert('P', { i = 1 }) assert(c:save())\n"
    return try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", opening + code)
  }

  @Test(arguments: ["s.sqlite", "s.sqlite-wal", "s.sqlite-shm", "s.sqlite-journal"])
  func theFilesOfAnOpenStoreAreRefused(_ name: String) throws {
    let code = """
      for _, mode in ipairs { 'r', 'r+', 'w', 'a', 'a+' } do
        local file, message, number = io.open('\(name)', mode)
        assert(not file and message:find('has it open') and number, mode)
      end
      assert(not os.remove('\(name)') and not os.rename('\(name)', 'x') and not os.rename('m.lua', '\(name)'))
      assert(not pcall(io.lines, '\(name)') and not pcall(io.input, '\(name)') and not pcall(io.output, '\(name)'))
      assert(not pcall(moonbase.open, { store = '\(name)', model = 'm.lua' }) or '\(name)' == 's.sqlite')
      assert(not pcall(moonbase.open, { model = '\(name)' }) or '\(name)' == 's.sqlite')
      assert(not pcall(moonbase.open, { model = 'm.lua', extensions = { '\(name)' } }))
      c:insert('P', { i = 2 }) assert(c:save()) print(c:fetch('P'):count())
      """
    let outcome = try run(code)
    #expect(outcome.output == "2\n", "\(outcome.complaints)")
  }

  @Test func theFilesOfAnOpenStoreAreRefusedUnderOtherNames() throws {
    try FileManager.default.createDirectory(at: bench.file("sub"), withIntermediateDirectories: true)
    for (link, target) in [("sub/link", "../s.sqlite-shm"), ("linked", "."), ("soft", "s.sqlite")] {
      try FileManager.default.createSymbolicLink(atPath: bench.file(link).path, withDestinationPath: target)
    }
    _ = try run("")
    #expect(link(bench.file("s.sqlite").path, bench.file("hard").path) == 0)
    let code = """
      for _, name in ipairs { './s.sqlite', 'sub/link', 'linked/s.sqlite-shm', 'soft', 'hard', 'sub/../s.sqlite-wal' } do
        for _, mode in ipairs { 'r', 'w' } do
          local file, message = io.open(name, mode)
          assert(not file and message:find('has it open'), name .. mode)
        end
      end
      local ok, message = os.rename('../' .. '\(bench.folder.lastPathComponent)', 'elsewhere')
      assert(not ok)
      print('done')
      """
    #expect(try run(code).output == "done\n")
  }

  @Test func aFileThatWasOpenBeforeIsNotWrittenAnyMore() throws {
    _ = try run("")
    let code = """
      local file = assert(io.open('s.sqlite', 'r+'))
      local store = moonbase.open { store = 's.sqlite', model = 'm.lua' }.context
      store:insert('P', { i = 3 }) assert(store:save())
      assert(file:read(15) == 'SQLite format 3')
      file:seek('set', 0) file:write(('x'):rep(5000))
      print(file:flush())
      file:close()
      store:insert('P', { i = 4 }) assert(store:save())
      print(store:fetch('P'):count())
      """
    let outcome = try bench.moonbase("run", "-e", code)
    #expect(outcome.output.contains("resource busy") && outcome.output.hasSuffix("\n3\n"), "\(outcome)")
  }

  @Test func aStoreIsNoModule() throws {
    let code = """
      local store = moonbase.open { store = 'x.lua', model = 'm.lua' }.context
      print(select(2, pcall(require, 'x')))
      """
    #expect(try run(code).output.contains("has it open"))
  }

  @Test func valuesMayBeReadButNotWritten() throws {
    let code = """
      c:insert('P', { b = ('x'):rep(200000) }) assert(c:save())
      local folder = '.s_SUPPORT/_EXTERNAL_DATA'
      local store = c:fetch('P'):where('b != NULL'):first()
      assert(#store.b == 200000)
      assert(not io.open(folder .. '/new', 'w') and not os.rename('.s_SUPPORT', 'x') and not os.remove(folder))
      assert(not os.rename('m.lua', folder .. '/x'))
      print 'done'
      """
    let outcome = try run(code)
    #expect(outcome.output == "done\n", "\(outcome.complaints)")
  }

  @Test func filesOfAStoreThatIsClosedAreFree() throws {
    _ = try run("")
    #expect(try bench.moonbase("run", "-e", "print(#io.open('s.sqlite'):read(15))").output == "15\n")
  }
}
