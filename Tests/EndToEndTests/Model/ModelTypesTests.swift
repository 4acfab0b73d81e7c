import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase model types` writes the types of a model and its extensions for editors.
@Suite struct ModelTypesTests {
  private let bench: Workbench

  private static let model = """
    return { entities = {
      Animal = { abstract = true, attributes = {
        name = { "string", optional = false }, legs = { "integer16", one_of = { 2, 4 } } } },
      Person = { parent = "Animal", attributes = {
          born = "date", height = "double", salary = "decimal", badge = "uuid", page = "uri", photo = "binary",
          active = { "boolean", optional = false, default = true },
          kind = { "string", one_of = { "a \\"quoted\\" one", "other" } },
          color = { "transformable", class = "Color", transformer = "T" }, ["end"] = "string",
          place = { "composite", elements = { city = "string", zip = "integer32" } } },
        relationships = {
          friends = { to_many = "Person", inverse = "friends" }, pet = { to = "Animal" },
          books = { to_many = "Book", ordered = true, inverse = "author" } },
        fetched_properties = { peers = { "Person", "legs = 2" } } },
      Book = { relationships = { author = { to = "Person", inverse = "books", optional = false } } },
      string = { attributes = { n = "integer64" } },
    } }
    """
  private static let colors = """
    return {
      name = "colors", classes = { Color = { __index = {} } },
      transformers = { T = { transform = function() return "" end, reverse = function() return {} end } },
      entities = { Person = {
        derived = { full = { type = "string", inputs = { "name" }, get = function(name) return name end } },
        methods = { address = function(person, separator) return separator end },
      } },
    }
    """

  init() throws {
    bench = try Workbench()
    try bench.write(Self.model, to: "m.lua")
    try bench.write(Self.colors, to: "x.lua")
  }

  /// The fields of a class in a text, with their types.
  private func fields(of name: String, in text: String) throws -> [String: String] {
    let part = try #require(
      text.components(separatedBy: "---@class ").first { $0.prefix { $0 != "\n" && $0 != ":" } == name }, "\(name)")
    return part.split(separator: "\n").dropFirst().reduce(into: [:]) { all, line in
      let parts = line.dropFirst("---@field ".count).split(separator: " ", maxSplits: 1).map(String.init)
      if line.hasPrefix("---@field "), parts.count == 2 { all[parts[0]] = parts[1] }
    }
  }

  private func types() throws -> String {
    let run = try bench.moonbase("model", "types", "m.lua", "--extension", "x.lua")
    #expect(run.status == 0 && run.complaints == "")
    return run.output
  }

  @Test func entitiesAreClassesWithWhatTheirObjectsHave() throws {
    let text = try types()
    #expect(text.contains("---@class Person: Animal\n") && text.contains("---@class Animal: moonbase.Object\n"))
    #expect(try fields(of: "Animal", in: text) == ["name": "string", "legs": "(2|4)?"])
    let person = try fields(of: "Person", in: text)
    let expected = [
      "born": "moonbase.Date?", "height": "number?", "salary": "moonbase.Decimal?", "badge": "moonbase.UUID?",
      "page": "moonbase.URI?", "photo": "string?", "active": "boolean", "color": "Color?", "[\"end\"]": "string?",
      "kind": #"("a \"quoted\" one"|"other")?"#, "place": "{ city: string?, zip: integer? }?",
      "friends": "moonbase.ToMany.Person", "pet": "Animal?", "books": "moonbase.ToMany.Book", "peers": "Person[]",
      "full": "string? derived by an extension", "address": "fun(self: Person, ...: any): any",
    ]
    #expect(person == expected)
    #expect(try fields(of: "Book", in: text) == ["author": "Person"])
    #expect(try fields(of: "string_", in: text) == ["n": "integer?"])
    #expect(text.contains("---@class Color\n"))
  }

  @Test func requestsAndListsKnowTheirObjects() throws {
    let text = try types()
    let request = try fields(of: "moonbase.Fetch.Person", in: text)
    #expect(request["where"] == "fun(self: moonbase.Fetch.Person, format: string, ...: any): moonbase.Fetch.Person")
    #expect(request["each"] == "fun(self: moonbase.Fetch.Person): fun(): Person?")
    let many = try fields(of: "moonbase.ToMany.Person", in: text)
    #expect(many["all"] == "fun(self: moonbase.ToMany.Person): Person[]" && many["[integer]"] == "Person")
    #expect(text.contains(#"fetch fun(self: moonbase.Context, entity: "string"): moonbase.Fetch.string_"#))
    #expect(
      text.contains(
        #"insert fun(self: moonbase.Context, entity: "Person", values?: moonbase.Values.Person): Person"#))
    #expect(!text.contains(#"insert fun(self: moonbase.Context, entity: "Animal""#))
    #expect(text.contains("---@field Person moonbase.EntityInfo.Person\n"))
  }

  /// Each documented step of a request and each documented function exists.
  @Test func whatIsPromisedIsThere() throws {
    let text = try types()
    let api = try String(
      contentsOf: Workbench.checkout.appendingPathComponent("lua/types/request.lua"), encoding: .utf8)
    let steps = api.matches(of: /---@return moonbase.Request\nfunction Request:(\w+)/).map { String($0.output.1) }
    #expect(steps.count > 10)
    #expect(try steps.filter { try fields(of: "moonbase.Fetch.Book", in: text)[$0] == nil } == [])
    #expect(try steps.filter { try fields(of: "moonbase.ToMany.Book", in: text)[$0] == nil } == [])
    var code = """
      local context = moonbase.context
      local person = context:insert("Person", { name = "x" })
      local subjects = { ["moonbase.Fetch.Person"] = context:fetch("Person"), ["moonbase.Context"] = context,
        ["moonbase.ToMany.Person"] = person.friends, Person = person, Animal = person,
        ["moonbase.Results.Person"] = context:fetch("Person"):sort("name"):follow() }
      local function check(subject, name)
        local there, value = pcall(function() return subjects[subject][name] end)
        if not there then print(subject, name, value) end
      end

      """
    for name in [
      "moonbase.Fetch.Person", "moonbase.Context", "moonbase.ToMany.Person", "moonbase.Results.Person", "Person",
      "Animal",
    ] {
      for field in try fields(of: name, in: text).keys where field.first != "[" {
        code += "check('\(name)', '\(field)')\n"
      }
    }
    code += "context:rollback()"
    try bench.write(code, to: "check.lua")
    let run = try bench.moonbase("run", "--quiet", "--model", "m.lua", "--extension", "x.lua", "check.lua")
    #expect(run.output == "" && run.complaints == "" && run.status == 0)
  }

  @Test func theTextIsLua() throws {
    try bench.write(try types(), to: "types.lua")
    #expect(try bench.program("lua5.4", "types.lua").status == 0)
  }

  @Test func modelsWithoutTheirExtensionsHaveTypes() throws {
    let run = try bench.moonbase("model", "types", "m.lua")
    #expect(run.status == 0 && run.complaints == "")
    #expect(try fields(of: "Person", in: run.output)["full"] == nil)
    let wrong = try bench.moonbase("model", "types", "none.lua")
    #expect(wrong.status == 1 && wrong.output == "" && wrong.complaints.contains("none.lua"))
  }

  @Test func filesForAnEditorAreWrittenAndSettingsAreKept() throws {
    let first = try bench.moonbase("model", "types", "m.lua", "--output", "p")
    #expect(first.status == 0 && first.complaints == "" && first.output == "")
    let settings = try JSONSerialization.jsonObject(with: bench.bytes(of: "p/.luarc.json")) as? [String: Any]
    #expect(settings?["runtime.version"] as? String == "Lua 5.4")
    #expect(settings?["workspace.library"] as? [String] == [".moonbase/types"])
    for name in ["of_model.lua", "moonbase.lua", "context.lua", "request.lua"] {
      #expect(try !bench.bytes(of: "p/.moonbase/types/\(name)").isEmpty)
    }
    try bench.write("return moonbase.version", to: "p/a.lua")
    let linted = try? bench.program("sh", "-c", "cd p && luacheck --quiet .")
    #expect(linted?.status == 0 || linted?.status == 127, "\(String(describing: linted))")
    #expect(try bench.moonbase("model", "types", "m.lua", "--output", "p").complaints == "")
    try bench.write("{}", to: "p/.luarc.json")
    let again = try bench.moonbase("model", "types", "m.lua", "--output", "p")
    #expect(again.complaints.contains("p/.luarc.json stays as it is: its workspace.library needs \".moonbase/types\""))
    #expect(try bench.bytes(of: "p/.luarc.json") == Data("{}".utf8))
    #expect(!again.complaints.contains(".luacheckrc"))
    try bench.write("{ \"workspace.library\": [\".moonbase/types\", \"more\"] }", to: "p/.luarc.json")
    try bench.write("globals = { 'moonbase' } exclude_files = { '.moonbase' }", to: "p/.luacheckrc")
    #expect(try bench.moonbase("model", "types", "m.lua", "--output", "p").complaints == "")
    let blocked = try bench.moonbase("model", "types", "m.lua", "--output", "m.lua")
    #expect(blocked.status == 1 && blocked.complaints.contains("m.lua/.moonbase/types cannot be made a folder"))
  }
}
