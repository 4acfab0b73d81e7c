import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase test` runs tests of extensions written in Lua.
@Suite struct TestCommandTests {
  private static let tests = """
    return {
      ["the initial is derived"] = function(t)
        local ann = t.context:insert("Person", { name = "Ann" })
        assert(t.context:save())
        t.equal(ann.initial, "A")
      end,
      ["nobody is there at first"] = function(t) t.equal(t.context:fetch("Person"):count(), 0) end,
      ["no age is negative"] = function(t)
        t.context:insert("Person", { name = "Bob", age = -1 })
        t.fails(function() return t.context:save() end, "is negative")
      end,
    }
    """

  @Test func testsOfAProjectRunWithFreshStores() throws {
    let bench = try Workbench.withProject()
    try bench.write(Self.tests, to: "people_test.lua")
    try FileManager.default.createDirectory(at: bench.file("deep/.hidden"), withIntermediateDirectories: true)
    try bench.write("return { one = function(t) t.equal(1, 1) end }", to: "deep/more_test.lua")
    try bench.write("error('no test')", to: "deep/.hidden/x_test.lua")
    let outcome = try bench.moonbase("test")
    #expect(outcome.status == 0 && outcome.output == "", "\(outcome)")
    #expect(outcome.complaints.hasPrefix("moonbase: 4 tests in 2 files: 4 passed; "), "\(outcome)")
    #expect(try !bench.names().contains("s.sqlite"))
    let filtered = try bench.moonbase("test", "--filter", "NOBODY", "--quiet")
    #expect(filtered.status == 0 && filtered.complaints == "", "\(filtered)")
    let none = try bench.moonbase("test", "deep", "--filter", "xyz")
    #expect(none.status == 1 && none.complaints.contains("no test's name has 'xyz'"), "\(none)")
  }

  @Test func failuresAreToldWithTheirPlaceAndAReadableDifference() throws {
    let bench = try Workbench.withProject()
    try bench.write(
      """
      return {
        first = function(t) t.equal({ a = 1, b = { 1, 2, { c = "x" } } }, { a = 1, b = { 1, 2, { c = "y" } }, d = true }) end,
        ["<second> & \\"more\\""] = function(t)
          local x = nil
          return x.y
        end,
        third = function(t) end,
      }
      """, to: "a_test.lua")
    try bench.write("return { x = ", to: "b_test.lua")
    let outcome = try bench.moonbase("test", "a_test.lua", "b_test.lua", "--junit", "out.xml")
    #expect(outcome.status == 1, "\(outcome)")
    #expect(outcome.output.contains("a_test.lua:2: first: "), "\(outcome)")
    #expect(
      outcome.output.contains(#"b[3].c: "x", expected "y""#) && outcome.output.contains("d: nil, expected true"),
      "\(outcome)")
    #expect(
      outcome.output.contains("a_test.lua:5: <second>") && outcome.output.contains("b_test.lua: the file: "),
      "\(outcome)")
    #expect(outcome.complaints.contains("4 tests in 2 files: 1 passed, 3 failed"))
    let xml = String(decoding: try bench.bytes(of: "out.xml"), as: UTF8.self)
    #expect(
      xml.contains(#"<testsuites tests="4" failures="3""#) && xml.contains("&lt;second&gt; &amp; &quot;more&quot;"),
      "\(xml)")
    #expect(try XMLCheck(bench.bytes(of: "out.xml")).count("testcase") == 4)
  }

  @Test func aFileWithoutTestsFailsAndIsToldWhatItHasToReturn() throws {
    let bench = try Workbench.withProject()
    let texts = [
      ("list", "return { function() end }", "not a list: give each test a name"), ("nothing", "local x", "not nothing"),
      ("empty", "return {}", "not an empty table"), ("number", "return { a = 1 }", "not a number as a"),
    ]
    for (name, text, _) in texts { try bench.write(text, to: "\(name)_test.lua") }
    let outcome = try bench.moonbase(["test", "none_test.lua"] + texts.map { "\($0.0)_test.lua" })
    let form = "a file of tests returns a table of functions by name, as { [\"adds\"] = function(t) ... end }"
    #expect(outcome.status == 1, "\(outcome)")
    #expect(outcome.output.contains("none_test.lua: there is no such file: \(form)\n"), "\(outcome)")
    for (name, _, message) in texts {
      #expect(outcome.output.contains("\(name)_test.lua: \(form), \(message)\n"), "\(name): \(outcome)")
    }
  }

  @Test func withoutFilesOrAModelItIsWrongUsage() throws {
    let bench = try Workbench()
    try bench.write("return {}", to: "x_test.lua")
    let model = try bench.moonbase("test")
    #expect(model.status == 2 && model.complaints.contains("there is no model"), "\(model)")
    try bench.write(Workbench.projectModel, to: "model.lua")
    try FileManager.default.removeItem(at: bench.file("x_test.lua"))
    let files = try bench.moonbase("test", "--model", "model.lua")
    #expect(files.status == 2 && files.complaints.contains("there is no file of tests (*_test.lua)"), "\(files)")
    let both = try bench.moonbase("test", "--watch", "--junit", "x.xml")
    #expect(both.status == 2 && both.complaints.contains("leave --watch out"), "\(both)")
  }

  @Test func itRunsAgainWhenAFileChanges() throws {
    let bench = try Workbench.withProject()
    try bench.write(Self.tests, to: "people_test.lua")
    try bench.write(Workbench.projectRules.replacingOccurrences(of: "sub(1, 1)", with: "sub(1, 2)"), to: "next.lua")
    let outcome = try bench.program(
      "sh", "-c",
      """
      sees() { for i in $(seq 400); do [ $(grep -c "$1" err) -ge $2 ] && return; sleep 0.05; done; }
      "$0" test --watch 2> err & pid=$!
      sees waiting 1; mv next.lua rules.lua; sees waiting 2
      kill -KILL $pid; wait $pid; cat err
      """, Workbench.command.path)
    #expect(outcome.output.contains("3 tests in 1 file: 3 passed"), "\(outcome)")
    #expect(outcome.output.contains("moonbase test: waiting for a change"))
    #expect(outcome.output.contains("3 tests in 1 file: 2 passed, 1 failed"))
  }
}
