import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Paths are interpreted as the system does.
@Suite struct PathTests {
  let bench: Workbench
  static let save = "local c = moonbase.context c:insert('P') assert(c:save())"

  init() throws {
    bench = try Workbench()
    try bench.write("return { entities = { P = { attributes = { i = 'integer64' } } } }", to: "m.lua")
    try bench.write("return { entities = { P = { will_save = function() error 'seen' end } } }", to: "e.lua")
  }

  /// The shell expands `~`; in an argument `~` is a plain name.
  @Test func aTildeIsANameAsAnyOther() throws {
    let folder = bench.file("x").deletingLastPathComponent().appendingPathComponent("~", isDirectory: true)
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    for name in ["m.lua", "e.lua"] {
      let text = String(decoding: try bench.bytes(of: name), as: UTF8.self)
      try text.write(toFile: "\(folder.path)/\(name)", atomically: true, encoding: .utf8)
    }
    try "return 42".write(toFile: "\(folder.path)/answer.lua", atomically: true, encoding: .utf8)
    try "print(require 'answer')".write(toFile: "\(folder.path)/main.lua", atomically: true, encoding: .utf8)
    #expect(try bench.moonbase("run", "--model", "~/m.lua", "--store", "~/s.sqlite", "-e", Self.save).status == 0)
    #expect(FileManager.default.fileExists(atPath: "\(folder.path)/s.sqlite"))
    #expect(try bench.moonbase("info", "~/s.sqlite").output.contains(" 1\n"))
    #expect(try bench.moonbase("model", "show", "~/m.lua").output.contains("integer64"))
    let extended = try bench.moonbase("run", "--model", "m.lua", "--extension", "~/e.lua", "-e", Self.save)
    #expect(extended.complaints.contains("seen"), "\(extended)")
    #expect(try bench.moonbase("run", "~/main.lua").output == "42\n")
    let opened = try bench.moonbase(
      "run", "-e", "print(#moonbase.open{ store = '~/s.sqlite' }.context:fetch('P'):all())")
    #expect(opened.output == "1\n", "\(opened)")
    #expect(try bench.moonbase("run", "-e", "print(io.open('~/m.lua'):read('l'))").output.contains("entities"))
    #expect(
      try bench.moonbase("run", "--model", "m.lua", "--store", "~", "-e", Self.save).complaints.contains("is a folder"))
  }

  @Test(
    arguments: [
      ["run", "--model", "m.lua", "--store", "x.sqlite/", "-e", save], ["info", "s.sqlite/"], ["info", "m.lua/"],
      ["run", "--model", "m.lua", "--store", "s.sqlite/", "-e", save], ["model", "show", "m.lua/"],
      ["model", "show", "s.sqlite/"], ["run", "--model", "m.lua/", "-e", save], ["run", "m.lua/"],
      ["run", "--model", "m.lua", "--extension", "e.lua/", "-e", "x = 1"],
      ["run", "-e", "moonbase.open{ store = 'x.sqlite/', model = 'm.lua' }"],
      ["run", "-e", "moonbase.open{ store = 's.sqlite/' }"],
    ])
  func aSlashAtTheEndNamesNoFile(_ arguments: [String]) throws {
    #expect(try bench.moonbase("run", "--model", "m.lua", "--store", "s.sqlite", "-e", Self.save).status == 0)
    let before = try bench.names()
    let run = try bench.moonbase(arguments)
    #expect(run.status == 1)
    #expect(run.complaints.contains(/folder|no such file|Not a directory/), "\(run)")
    #expect(try bench.names() == before)
  }

  @Test(
    arguments: ["x", "yy/"],
    [
      ["info", "PATH"], ["model", "show", "PATH"], ["model", "check", "PATH"], ["run", "PATH"],
      ["run", "--model", "PATH", "-e", "x = 1"], ["run", "--model", "m.lua", "--store", "PATH", "-e", "x = 1"],
      ["run", "--model", "m.lua", "--extension", "PATH", "-e", "x = 1"],
      ["run", "-e", "assert(io.open('PATH'))"], ["run", "-e", "moonbase.open{ store = 'PATH', model = 'm.lua' }"],
    ])
  func aPathThatIsTooLongIsToldSo(_ part: String, _ arguments: [String]) throws {
    let path = part == "x" ? String(repeating: part, count: 300) : String(repeating: part, count: 2000) + "z"
    let run = try bench.moonbase(arguments.map { $0.replacing("PATH", with: path) })
    #expect(run.status == 1)
    #expect(run.complaints.contains("File name too long"), "\(run)")
  }

  /// Foundation would resolve `link/..` to the folder that contains the link, and `x//..` to `x`.
  @Test func aStoreIsFoundWhereTheSystemFindsIt() throws {
    #expect(try bench.moonbase("run", "--model", "m.lua", "--store", "s.sqlite", "-e", Self.save).status == 0)
    for folder in ["x/y", "z"] {
      try FileManager.default.createDirectory(at: bench.file(folder), withIntermediateDirectories: true)
    }
    try #require(symlink("../x", bench.file("z/link").path) == 0)
    for path in ["x//../s.sqlite", "z/link/../s.sqlite", ".//s.sqlite"] {
      let count = try bench.moonbase("fetch", "P", "--store", path, "--count")
      #expect(count.status == 0 && count.output == "1\n", "\(path): \(count)")
      let run = try bench.moonbase("run", "--store", path, "-e", "print(moonbase.context:fetch('P'):count())")
      #expect(run.output == "1\n", "\(path): \(run)")
    }
    #expect(try bench.names() == ["m.lua", "e.lua", "s.sqlite", "x", "z"].sorted())
  }
}
