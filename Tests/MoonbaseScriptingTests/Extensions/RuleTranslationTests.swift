import MoonbaseGraph
import MoonbaseModel
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Rule messages in the host's language.
@Suite struct RuleTranslationTests {
  private static let file = """
    return {
      messages = {
        de = { ["is too much: {value}"] = "ist mit {value} zu viel", ["is bad"] = "ist schlecht" },
        ["de-AT"] = { ["is bad"] = "ist schiach" },
        pt_BR = { ["is bad"] = "é ruim" },
      },
      entities = { P = {
        validate = { i = function(v) return v < 10, "is too much: {value}" end, s = function() return false, { "is bad" } end },
        validate_for_insert = function() return false, "is not translated" end,
      } },
    }
    """

  private func messages(in language: String?) throws -> [String] {
    let model = try LuaModelFile().read(
      ScriptSource(name: "m.lua", text: ThingBench.model.replacing(", transformer = \"T\"", with: "")))
    let extensions = try ScriptExtensions([.text(Self.file, name: "x.lua")], for: model, language: language)
    let context = try ManagedObjectContext(
      PersistentStoreCoordinator(model: extensions.resolvedModel), extensions: extensions)
    let object = try context.insert("P", values: ["i": 12, "s": "a"])
    let error = #expect(throws: GraphError.self) { try object.validate() }
    return error?.details.compactMap(\.reason).sorted() ?? []
  }

  @Test(arguments: [
    ("de", ["is not translated", "ist mit 12 zu viel", "ist schlecht"]),
    ("de-CH", ["is not translated", "ist mit 12 zu viel", "ist schlecht"]),
    ("de-AT", ["is not translated", "ist mit 12 zu viel", "ist schiach"]),
    ("DE_at", ["is not translated", "ist mit 12 zu viel", "ist schiach"]),
    ("pt-BR", ["is not translated", "is too much: 12", "é ruim"]),
    ("pt", ["is bad", "is not translated", "is too much: 12"]),
    ("en", ["is bad", "is not translated", "is too much: 12"]),
    ("", ["is bad", "is not translated", "is too much: 12"]),
  ])
  func theNearestLanguageIsTaken(_ language: String, _ wanted: [String]) throws {
    #expect(try messages(in: language) == wanted.sorted())
  }

  @Test(arguments: [
    ("de = { x = 1 }", "messages.de.x: a translation is a string"),
    (
      "de = { ['is {value}'] = 'ist {valu}' }",
      "the translation names {valu}, and the message does not; did you mean value?"
    ),
    ("['not a language'] = {}", "\"not a language\" is no language: write \"de\" or \"pt-BR\""),
    ("de = 'x'", "messages.de: a table is expected"),
  ])
  func aTableThatMakesNoSenseIsRefused(_ messages: String, _ wanted: String) {
    let error = #expect(throws: ScriptError.self) {
      try ThingBench.bench("", beside: ThingBench.transformer + "messages = {\n \(messages) },")
    }
    #expect(error?.message.contains(wanted) == true && error?.location?.line == 2, "\(error as Any)")
  }
}

/// Rules over values of related objects.
@Suite struct PathRuleTests {
  private static let model = """
    return { entities = {
      Person = { attributes = { name = "string" }, relationships = {
        department = { to = "Department", inverse = "people" }, twin = { to = "Person" } } },
      Boss = { parent = "Person" },
      Department = { attributes = { name = "string", budget = "integer64" }, relationships = {
        people = { to_many = "Person", inverse = "department" }, company = { to = "Company", inverse = "departments" } } },
      Company = { attributes = { name = "string", open = "boolean" }, relationships = {
        departments = { to_many = "Department", inverse = "company" } } },
    } }
    """

  private static func rules(_ text: String) -> String {
    "return { entities = { Person = { validate = {\n \(text) } } } }"
  }

  private static let both = rules(
    """
    ["department.budget"] = function(budget, person, old, occasion)
      return budget >= 10, "of " .. person.name .. " has only {value} (" .. occasion .. ")" end,
    ["department.company.open"] = function(open) return open, "is closed" end,
    """)

  @Test(arguments: StoreKind.allCases) func itIsAskedOfBothSides(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind, model: Self.model, extensions: [Self.both]).lines(
      """
      local company = context:insert("Company", { open = true })
      local d = context:insert("Department", { budget = 5, company = company })
      local p = context:insert("Boss", { name = "Ann", department = d })
      local function save()
        local ok, err = context:save()
        if ok then return "saved" end
        local texts = {}
        for _, detail in ipairs(err.details) do texts[#texts + 1] = detail.entity .. "." .. detail.key .. " " .. detail.message end
        table.sort(texts)
        return table.concat(texts, "; ")
      end
      print(save())
      d.budget = 20 print(save())
      d.name = "x" print(save())
      d.budget = 7 print(save())
      d.budget = 30 print(save())
      company.open = false print(save())
      company.open = true company.name = "c" print(save())
      local other = context:insert("Company", { open = false })
      d.company = other print(save())
      d.company = nil print(save())
      p.department = nil d.budget = 1 print(save())
      p.department = d print(save())
      context:rollback()
      p.department = nil d.budget = nil print(save())
      """)
    #expect(
      lines == [
        "Boss.department of Ann has only 5 (insert); Department.budget of Ann has only 5 (insert)", "saved", "saved",
        "Department.budget of Ann has only 7 (update)", "saved", "Company.open is closed", "saved",
        "Company.open is closed; Department.company is closed", "saved", "saved",
        "Boss.department of Ann has only 1 (update)", "saved",
      ])
  }

  @Test(arguments: [
    (
      "['department.budgt'] = print",
      "Person: the rule over department.budgt: Department has no property budgt; did you mean budget?"
    ),
    ("['deparment.budget'] = print", "Person has no property deparment; did you mean department?"),
    ("['twin.name'] = print", "Person.twin has no inverse, by which the rule is asked when the other object changes"),
    (
      "['department.people.name'] = print",
      "Department.people leads to several objects: a rule over the relationship gets them as a list"
    ),
    ("['department.company'] = print", "Department.company is no attribute"),
    ("['name.length'] = print", "Person.name is no relationship"),
    ("['department.'] = print", "Department has no property"),
  ])
  func aPathThatARuleCannotHaveIsRefused(_ rule: String, _ message: String) {
    let error = #expect(throws: ScriptError.self) {
      try ScriptBench(.memory, model: Self.model, extensions: [Self.rules(rule)])
    }
    #expect(error?.message.contains(message) == true && error?.location?.line == 2, "\(error as Any)")
  }
}
