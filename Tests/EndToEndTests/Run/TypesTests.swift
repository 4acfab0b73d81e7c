import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Every name in `lua/types` exists.
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
        Request = context:fetch("A"), History = context:history(), Object = a, ToMany = a.many, ObjectID = a:id(), Progress = moonbase.progress(),
        Date = moonbase.date.now(), DateModule = moonbase.date, DecimalModule = moonbase.decimal,
        UUIDModule = moonbase.uuid, URIModule = moonbase.uri, Decimal = moonbase.decimal(1), UUID = moonbase.uuid(),
        URI = moonbase.uri("a:b"), Watch = context:on("did_save", print), Job = moonbase.background("none"),
        Results = context:fetch("A"):sort("x"):follow(),
      }
      subjects.Job:cancel()
      local function check(subject, name)
        local there, value = pcall(function() return subjects[subject][name] end)
        if subject == "Object" and type(value) ~= "function" then value = moonbase.object[name] end
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

  /// Every function that a script can call is in the types.
  @Test func everyFunctionIsInTheTypes() throws {
    let bench = try Workbench()
    let types = Workbench.checkout.appendingPathComponent("lua/types")
    var promised: Set<String> = []
    for name in ["context", "moonbase", "object", "values"] {
      let text = try String(contentsOf: types.appendingPathComponent("\(name).lua"), encoding: .utf8)
      for match in text.matches(of: /function (?<subject>\w+)[.:](?<name>\w+)\(/) {
        promised.insert("\(match.output.subject).\(match.output.name)")
      }
    }
    // The calendar is documented in its own source.
    let dates = try String(
      contentsOf: Workbench.checkout.appendingPathComponent("lua/moonbase/date.lua"), encoding: .utf8)
    for match in dates.matches(of: /\nfunction date.(?<name>\w+)\(/) {
      promised.insert("DateModule.\(match.output.name)")
    }
    try bench.write(
      """
      for subject, functions in pairs {
        moonbase = moonbase, DateModule = moonbase.date, Object = moonbase.object, DecimalModule = moonbase.decimal,
        UUIDModule = moonbase.uuid, URIModule = moonbase.uri,
      } do
        for name, value in pairs(functions) do
          if type(value) == "function" then print(subject .. "." .. name) end
        end
      end
      """, to: "list.lua")
    let registered = try bench.moonbase("run", "list.lua").output.split(separator: "\n").map(String.init)
    #expect(registered.count > 25)
    #expect(registered.filter { !promised.contains($0) } == [])
  }

  /// The fields of a class in the types.
  private func fields(of name: String, in file: String) throws -> [String] {
    let types = Workbench.checkout.appendingPathComponent("lua/types")
    let text = try String(contentsOf: types.appendingPathComponent(file), encoding: .utf8)
    let part = try #require(
      text.components(separatedBy: "---@class moonbase.").first { $0.hasPrefix("\(name)\n") })
    return part.matches(of: /---@field (?<name>\w+)/).map { String($0.output.name) }
  }

  /// A hook in the types that is never called would mislead authors.
  @Test func everyKeyOfAnExtensionInTheTypesIsKnown() throws {
    let bench = try Workbench()
    try bench.write("return { entities = { A = { attributes = { x = 'string' } } } }", to: "m.lua")
    let keys = try fields(of: "EntityExtension", in: "extension.lua")
    #expect(keys.contains("will_save") && keys.count > 10)
    let entries = keys.map { key in
      "\(key) = \(["normalize", "validate", "derived", "methods"].contains(key) ? "{}" : "print")"
    }
    try bench.write("return { entities = { A = { \(entries.joined(separator: ", ")) } } }", to: "x.lua")
    let derived = try fields(of: "Derived", in: "extension.lua").filter { !["shadow", "transformer"].contains($0) }
    let values = [
      "type": "'string'", "inputs": "{ 'x' }", "get": "print", "set": "print", "read": "'on_demand'",
      "write": "'immediate'", "stored": "false", "object": "false",
    ]
    let attribute = derived.map { "\($0) = \(values[$0] ?? "true")" }.joined(separator: ", ")
    try bench.write("return { entities = { A = { derived = { y = { \(attribute) } } } } }", to: "y.lua")
    let run = try bench.moonbase("run", "--model", "m.lua", "--extension", "x.lua", "--extension", "y.lua", "-e", "")
    #expect(run.complaints == "" && run.status == 0)
  }

  @Test func everyFieldOfTheModelsDescriptionIsThere() throws {
    let bench = try Workbench()
    let rules = "default = 'a', min_length = 1, max_length = 9, matches = '.*', one_of = { 'a' }"
    try bench.write(
      """
      return { entities = {
        P = { abstract = true },
        A = { parent = "P", class = "A", attributes = {
            s = { "string", \(rules) }, i = { "integer16", min = 1, max = 9 },
            d = { "string", derivation = "s" } },
          relationships = { one = { to = "A", inverse = "one" } },
          fetched_properties = { f = { "A", "s = 'a'" } } } } }
      """, to: "m.lua")
    var code = """
      local a = moonbase.model.entities.A
      local s, i, d = a.attributes.s, a.attributes.i, a.attributes.d
      local subjects = { ModelInfo = { moonbase.model }, EntityInfo = { a }, AttributeInfo = { s, i, d },
        RelationshipInfo = { a.relationships.one }, FetchedPropertyInfo = { a.fetched_properties.f } }
      local function check(class, name)
        local found
        for _, subject in ipairs(subjects[class]) do found = found or subject[name] ~= nil end
        if not found then print(class, name) end
      end

      """
    var count = 0
    for name in ["ModelInfo", "EntityInfo", "AttributeInfo", "RelationshipInfo", "FetchedPropertyInfo"] {
      for field in try fields(of: name, in: "model_info.lua")
      where !(name == "AttributeInfo" && ["transformer", "class"].contains(field)) {
        code += "check('\(name)', '\(field)')\n"
        count += 1
      }
    }
    #expect(count > 20)
    try bench.write(code, to: "check.lua")
    let run = try bench.moonbase("run", "--model", "m.lua", "check.lua")
    #expect(run.output == "" && run.complaints == "" && run.status == 0, "\(run)")
  }
}
