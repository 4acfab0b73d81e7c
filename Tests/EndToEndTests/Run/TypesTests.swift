import MoonbasePlatform
import Testing

/// What `lua/types` promises to an editor is there.
@Suite struct TypesTests {
  @Test func everyFunctionOfTheTypesExists() throws {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = { A = { attributes = { x = "string" },
        relationships = { many = { to_many = "A", inverse = "many" } } } } }
      """, to: "m.lua")
    let types = Workbench.checkout.appendingPathComponent("lua/types")
    var code = """
      local context = moonbase.context
      local a = context:insert("A")
      local subjects = {
        moonbase = moonbase, Store = { reload = moonbase.open { model = "m.lua" }.reload }, Context = context,
        Request = context:fetch("A"), Object = a, ToMany = a.many, ObjectID = a:id(), Progress = moonbase.progress(),
        Date = moonbase.date.now(), DateModule = moonbase.date, Decimal = moonbase.decimal(1), UUID = moonbase.uuid(),
        URI = moonbase.uri("a:b"),
      }
      local function check(subject, name)
        local there, value = pcall(function() return subjects[subject][name] end)
        if not there or type(value) ~= "function" then print(subject, name) end
      end

      """
    var count = 0
    for name in ["context", "moonbase", "object", "values"] {
      let text = try String(contentsOf: types.appendingPathComponent("\(name).lua"), encoding: .utf8)
      for match in text.matches(of: /function (?<subject>\w+)[.:](?<name>\w+)\(/) {
        code += "check('\(match.output.subject)', '\(match.output.name)')\n"
        count += 1
      }
    }
    #expect(count > 50)
    try bench.write(code, to: "check.lua")
    let run = try bench.moonbase("run", "--quiet", "--model", "m.lua", "check.lua")
    #expect(run.output == "" && run.complaints == "" && run.status == 0)
  }
}
