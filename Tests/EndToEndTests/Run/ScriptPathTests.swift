import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Paths in scripts resolve as in the system, and only into granted folders.
@Suite struct ScriptPathTests {
  private static let doors = [
    "moonbase.open { store = PATH, model = { entities = {} } }",
    "moonbase.open { store = 'inside.sqlite', model = PATH }",
    "moonbase.open { store = 'inside.sqlite', model = { entities = {} }, extensions = { PATH } }",
    "assert(io.open(PATH, 'w'))", "assert(io.open(PATH))", "io.lines(PATH)", "assert(os.remove(PATH))",
    "assert(os.rename('mine', PATH))", "assert(os.rename(PATH, 'other'))",
  ]

  /// A `..` after a link resolves from the link's destination, which is not granted.
  @Test(arguments: doors) func whatStandsBehindALinkAndTwoPointsIsNotGrantedByTheLinksPlace(_ door: String) throws {
    let (bench, outside) = (try Workbench(), try Workbench())
    mkdir(outside.file("sub").path, 0o755)
    #expect(symlink(outside.file("sub").path, bench.file("link").path) == 0)
    // The path without the apparent detour, which is granted.
    for name in ["m.lua", "mine"] { try bench.write("return { entities = {} }", to: name) }
    try outside.write("return { entities = {} }", to: "m.lua")
    for path in ["link/../m.lua", "link/../new", "link/new"] {
      let code = door.replacing("PATH", with: "'\(path)'")
      let outcome = try bench.moonbase("run", "-e", code)
      #expect(outcome.status == 1, "\(code): \(outcome)")
      #expect(
        outcome.complaints.contains("the script may not") || outcome.complaints.contains("not granted for"),
        "\(outcome)")
    }
    #expect(try outside.names() == ["m.lua", "sub"])
    #expect(try Set(bench.names()).isSubset(of: ["link", "m.lua", "mine"]))
  }

  @Test func whatTheSystemFindsInsideIsGranted() throws {
    let bench = try Workbench()
    for name in ["a", "b", "b/c"] { mkdir(bench.file(name).path, 0o755) }
    #expect(symlink("../b/c", bench.file("a/link").path) == 0)
    let code = """
      assert(moonbase.open { store = "a/link/../new.sqlite", model = { entities = { P = { attributes = { n = "string" } } } } })
      assert(io.open("a/link/../file", "w")):close()
      assert(os.rename("a/link/../file", "a/link/../c/file"))
      """
    let outcome = try bench.moonbase("run", "-e", code)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.file("b").path).contains("new.sqlite"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.file("b/c").path) == ["file"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.file("a").path) == ["link"])
  }
}
