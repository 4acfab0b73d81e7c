import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

@Suite struct ScriptExtensionTests {
  @Test(arguments: StoreKind.allCases) func transformerStoresBytesAndGivesTheSameValueBack(_ kind: StoreKind) throws {
    let bench = try ScriptBench(kind)
    let lines = try bench.lines(
      """
      local Color = moonbase.classes.Color
      local p = context:insert("Person")
      p.favoriteColor = Color.new(1, 0.5, 0)
      assert(context:save())
      context:refresh(p, false)
      print(p.favoriteColor.g, getmetatable(p.favoriteColor) == Color, p.favoriteColor == Color.new(1, 0.5, 0))
      print(pcall(function() p.favoriteColor = "red" end))
      """)
    #expect(lines[0].hasPrefix("0.5\t"))
    #expect(lines[1].contains("Color"))
    let context = try ManagedObjectContext(bench.coordinator, extensions: bench.extensions)
    let person = try #require(try context.fetch(FetchRequest("Person")).first)
    let slot = try #require(person.entity.slot("favoriteColor"))
    guard case .data(let bytes)? = try bench.coordinator.persistentStores[0].snapshot(of: person.objectID)?.values[slot]
    else {
      Issue.record("no bytes")
      return
    }
    #expect(bytes.count == 32)
    guard case .object(let color) = try person.value(forKey: "favoriteColor") else {
      Issue.record("no opaque value")
      return
    }
    #expect(color.className == "Color")
  }

  /// The Lua state of pure functions is released with its generation, even if a walk keeps the connection that used the
  /// state.
  @Test func aGenerationThatWasReloadedGoesWithTheLastStatementThatUsesIt() throws {
    let bench = try ScriptBench(.sqlite)
    let context = try ManagedObjectContext(bench.coordinator, extensions: bench.extensions)
    for _ in 0..<40 { _ = try context.insert("Person", values: ["firstName": "A", "lastName": "B"]) }
    try context.save()
    let plain = try context.fetchedObjects(FetchRequest("Person"))
    #expect(plain.first != nil)
    weak let generation: (any PureFunctionProvider)? = context.extensionRegistry.pureFunctions
    #expect(generation != nil)
    var request = try FetchRequest("Person", where: "fullName == 'A B'")
    request.fetchBatchSize = 2
    var found: FetchedObjects? = try context.fetchedObjects(request)
    #expect(found?.first != nil)
    #expect(generation?.made.count ?? 0 > 0)
    try bench.extensions.reload()
    try context.reloadExtensions()
    #expect(try context.count(FetchRequest("Person", where: "fullName == 'A B'")) == 40)
    // The remaining results use the functions of the request's generation.
    #expect(generation != nil)
    #expect(found?.count == 40)
    found = nil
    #expect(generation == nil)
    #expect(plain.count == 40)
  }

  @Test(arguments: StoreKind.allCases) func rulesNormalizationAndDerivedAttributesRun(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      local p = context:insert("Person", { firstName = "Captain", lastName = "Scarlet", email = "A@B.C", age = 13 })
      print(p.fullName, p.place)
      p.department = context:insert("Department", { name = "Cloudbase" })
      print(p.place)
      local ok, err = context:save()
      print(ok, err.code, err.key, err.message, #err.details, err.details[1].value)
      p.age = 14
      print(context:save(), p.email)
      p.bounds = { 3 }
      print(p.boundsAsString, p.bounds[1])
      assert(context:save())
      """)
    #expect(
      lines == [
        "Captain Scarlet\tnowhere", "Cloudbase", "nil\t1550\tage\tis unlucky\t1\t13", "true\ta@b.c", "3\t3",
      ])
  }

  /// In the model and in the extension, either entity may come first.
  @Test(arguments: [("A", "B"), ("B", "A")], StoreKind.allCases)
  func aSubentityMayDeriveInItsOwnWayWhatItsParentDerives(_ names: (parent: String, child: String), _ kind: StoreKind)
    throws
  {
    func derived(_ value: String) -> String {
      "{ derived = { twice = { type = 'integer64', inputs = { 'h' }, get = function(h) return \(value) end } } }"
    }
    let model = """
      return { entities = { \(names.parent) = { attributes = { h = "integer16" } }, \(names.child) = { parent = "\(names.parent)" } } }
      """
    let both =
      "return { name = 'both', entities = { \(names.parent) = \(derived("2 * h")), \(names.child) = \(derived("-h")) } }"
    let apart = [(names.child, "-h"), (names.parent, "2 * h")].map {
      "return { name = '\($0)', entities = { \($0) = \(derived($1)) } }"
    }
    for extensions in [[both], apart, apart.reversed()] {
      let lines = try ScriptBench(kind, model: model, extensions: extensions).lines(
        """
        local parent, child = context:insert("\(names.parent)", { h = 5 }), context:insert("\(names.child)", { h = 5 })
        print(parent.twice, child.twice)
        assert(context:save())
        """)
      #expect(lines == ["10\t-5"])
    }
  }

  @Test(arguments: StoreKind.allCases) func inputsMayBeAggregates(_ kind: StoreKind) throws {
    let totals = """
      return { entities = {
        Department = { derived = {
          summary = {
            type = "string",
            inputs = { "employees.@count", "employees.@sum.age", "employees.@avg.age", "employees.@min.age",
                       "employees.age.@max", "employees.friends.@count" },
            get = function(n, sum, mean, least, most, friends)
              return ("%d %d %s %s %s %d"):format(n, sum, mean, least, most, friends)
            end,
          },
          oldest = { type = "integer16", inputs = { "employees.@max.age" }, strict = true, pure = true,
                     get = function(age) return age end },
        } },
        Person = { derived = { peers = { type = "integer32", inputs = { "department.employees.@count" },
                                         get = function(n) return n or 0 end } } },
      } }
      """
    let lines = try ScriptBench(kind, extensions: [ScriptBench.colors, totals]).lines(
      """
      local d = context:insert("Department")
      print(d.summary, d.oldest)
      local a = context:insert("Person", { age = 20, department = d })
      local b = context:insert("Person", { age = 41, department = d })
      a.friends:add(b)
      print(d.summary, d.oldest, a.peers)
      print(context:insert("Person").peers)
      b.age = 50
      print(d.oldest)
      assert(context:save())
      print(context:fetch("Department"):where("oldest > 45"):count(), context:fetch("Person"):where("peers = 2"):count())
      """)
    #expect(lines == ["0 0 nil nil nil 0\tnil", "2 61 30.5 20 41 2\t41\t2", "0", "50", "1\t2"])
  }

  @Test(arguments: [
    ("employees.@sum.agee", "did you mean age?"), ("employees.agee", "did you mean age?"),
    ("employees.@sum.firstName", "needs numbers"),
    ("employees.@som.age", "did you mean @sum?"), ("name.length", "a string, which has no keys"), ("", "no property"),
  ])
  func inputsAreChecked(_ input: String, _ message: String) {
    let text = """
      return { entities = { Department = { derived = {
        total = { type = "double",
                  inputs = { "\(input)" }, get = function() end } } } } }
      """
    let error = #expect(throws: ScriptError.self) { try ScriptBench(extensions: [ScriptBench.colors, text]) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect("\(error.map { "\($0)" } ?? "")".hasPrefix("extension2.lua:3: "))
  }

  @Test func shapeErrorsNameFileAndLine() throws {
    func message(_ text: String) -> String {
      do {
        _ = try ScriptBench(extensions: [ScriptBench.colors, text])
        return "no error"
      } catch {
        return "\(error)"
      }
    }
    #expect(
      message("return {\n entites = {} }") == "extension2.lua:2: entites: this key is unknown; did you mean entities?")
    #expect(message("return { entities = {\n Persn = {} } }").hasPrefix("extension2.lua:2: "))
    #expect(
      message("return { entities = { Person = { validate = {\n aeg = function() end } } } }").contains(
        "did you mean age"))
    #expect(message("return { entities = { Person = { validate = { age = 1 } } } }").contains("a function is expected"))
    #expect(message("return 1").contains("returns a table"))
    #expect(message("return {").contains("extension2.lua"))
    #expect(
      message("return { transformers = { ColorTransformer = { transform = function() end } } }").contains("already"))
    #expect(message("return { requires = { extensions = { 'missing' } } }").contains("missing"))
  }

  @Test func missingTransformerIsAnErrorInALuaModel() throws {
    #expect(throws: ModelError.self) { try ScriptBench(extensions: []) }
  }

  @Test(arguments: StoreKind.allCases) func unfinishedAndRaisingRulesAreErrorsOfTheScript(_ kind: StoreKind) throws {
    let extend = { (rule: String) in
      "return { entities = { Person = { validate = { age = function(v, o) \(rule) end } } } }"
    }
    for (rule, expected) in [("", "returned nothing"), ("error('broken')", "broken")] {
      let bench = try ScriptBench(kind, extensions: [ScriptBench.colors, extend(rule)])
      let outcome = try bench.run("local c = moonbase.context c:insert('Person') print(select(2, pcall(c.save, c)))")
      #expect((bench.output + (outcome.message ?? "")).contains(expected), "\(outcome) \(bench.output)")
    }
  }

  @Test(arguments: StoreKind.allCases) func failureOnAnotherKeyBlamesThatKey(_ kind: StoreKind) throws {
    let rule =
      "return { entities = { Person = { validate_for_insert = function(o) return false, 'is strange', 'email' end } } }"
    let lines = try ScriptBench(kind, extensions: [ScriptBench.colors, rule]).lines(
      "context:insert('Person') local ok, err = context:save() print(err.key, err.message, err.entity) context:rollback()"
    )
    #expect(lines == ["email\tis strange\tPerson"])
  }
}
