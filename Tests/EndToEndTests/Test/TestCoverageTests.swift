import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase test --coverage` reports the lines of extensions that ran.
@Suite struct TestCoverageTests {
  @Test func linesOfExtensionsAndTheirModulesAreTold() throws {
    let bench = try Workbench.withProject()
    try bench.write(
      "return {\n  sign = function(x)\n    if x < 0 then\n      return -1\n    end\n    return 1\n  end,\n}",
      to: "signs.lua")
    try bench.write(
      """
      local signs = require("signs")
      return { name = "rules", entities = { Person = {
        validate = { age = function(age)
          return signs.sign(age) > 0, "is negative"
        end },
        will_save = function(object)
          local name = object.name
          return name
        end,
        prepare_for_deletion = function(object)
          return object.name
        end,
      } } }
      """, to: "rules.lua")
    try bench.write(
      """
      return { saves = function(t)
        t.context:insert("Person", { name = "Ann", age = 3 })
        assert(t.context:save())
      end }
      """, to: "people_test.lua")
    let outcome = try bench.moonbase("test", "--coverage")
    #expect(outcome.status == 0, "\(outcome)")
    let rows = outcome.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(rows.first == ["file", "lines", "ran", "percent", "not", "run"], "\(outcome)")
    #expect(rows.contains { $0.first == "rules.lua" && $0.last == "11" }, "\(outcome)")
    #expect(rows.contains { $0.first == "signs.lua" && $0.last == "4" }, "\(outcome)")
    #expect(rows.count == 4, "\(outcome)")
    let plain = try bench.moonbase("test")
    #expect(plain.status == 0 && plain.output == "", "\(plain)")
  }
}
