import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Methods that extensions add to objects: called from scripts and Swift, inherited, and replaced by a reload.
@Suite struct MethodTests {
  private static let address = """
    return { name = "address", entities = { Person = { methods = {
      full_name = function(p, separator, ...) return p.firstName .. (separator or " ") .. p.lastName, select("#", ...) end,
      rename = function(p, name) p.firstName = name return p end,
      is_friend_of = function(p, other) return p.friends:contains(other) end,
      fails = function() error("no luck") end,
      gives = function(p, ...) return { ... } end,
    } }, Employee = { methods = { full_name = function(p) return p.title .. " " .. p.lastName end } } } }
    """

  private func bench(_ kind: StoreKind = .memory, beside files: [String] = []) throws -> ScriptBench {
    try ScriptBench(kind, extensions: [ScriptBench.colors, Self.address] + files)
  }

  private func context(_ bench: ScriptBench) throws -> ManagedObjectContext {
    try ManagedObjectContext(bench.coordinator, extensions: bench.extensions)
  }

  @Test(arguments: StoreKind.allCases) func scriptsCallThemLikeThoseOfTheHost(_ kind: StoreKind) throws {
    let lines = try bench(kind).lines(
      """
      local p = context:insert("Person", { firstName = "Ann", lastName = "Lee" })
      local e = context:insert("Employee", { firstName = "Bo", lastName = "Day", title = "Dr", friends = { p } })
      assert(context:save())
      print(p:full_name(", ", 1, nil))
      print(p:full_name(), e:full_name())
      print(moonbase.object.full_name(p, "-"), moonbase.object.full_name(e))
      print(p:rename("Al") == p, p.firstName, p:is_friend_of(e), p.full_name ~= nil)
      """, leavingChanges: true)
    #expect(
      lines == ["Ann, Lee\t2", "Ann Lee\tDr Day", "Ann-Lee\tDr Day", "true\tAl\ttrue\ttrue"])
  }

  @Test func swiftCallsThemWithValues() throws {
    let bench = try bench()
    let context = try context(bench)
    let person = try context.insert("Person")
    let other = try context.insert("Employee")
    try person.setValue("Ann", forKey: "firstName")
    try person.setValue("Lee", forKey: "lastName")
    try other.setValue(.list([.objectID(person.objectID)]), forKey: "friends")
    #expect(try person.call("full_name", ", ") == "Ann, Lee")
    #expect(try person.call("is_friend_of", .objectID(other.objectID)) == true)
    #expect(try person.call("rename", with: ["Al"]) == .objectID(person.objectID))
    #expect(try person.call("gives", 1, "a", ["x": 2.5]) == .list([1, "a", ["x": 2.5]]))
    #expect(try person.value(forKey: "firstName") == "Al")
  }

  @Test func whatGoesWrongNamesTheMethod() throws {
    let bench = try bench()
    let context = try context(bench)
    let person = try context.insert("Person")
    let failure = #expect(throws: GraphError.self) { try person.call("fails") }
    #expect(failure?.code == .extensionFailure)
    #expect(failure?.message.contains("Person: method fails: extension2.lua:5: no luck") == true, "\(failure as Any)")
    let unknown = #expect(throws: GraphError.self) { try person.call("full_nam") }
    #expect(unknown?.message == "Person has no method full_nam; did you mean full_name?")
    let department = try context.insert("Department")
    let none = #expect(throws: GraphError.self) { try department.call("full_name") }
    #expect(none?.message == "Department has no method full_name: no extension gives it any")
    let lines = try bench.lines(
      """
      local p, d = context:insert("Person"), context:insert("Department")
      for _, call in ipairs {
        function() p:full_nam() end, function() d:full_name() end, function() moonbase.object.full_nam(p) end,
        function() moonbase.object.full_name(d) end, function() p.full_name = 1 end, function() p:fails() end,
      } do print(select(2, pcall(call))) end
      """, leavingChanges: true)
    #expect(lines[0].hasSuffix("did you mean full_name?"), "\(lines)")
    #expect(lines[1].contains("Department has no property full_name"), "\(lines)")
    #expect(lines[2].contains("moonbase.object has no 'full_nam'"), "\(lines)")
    #expect(lines[3].contains("Department has no method full_name"), "\(lines)")
    #expect(lines[4].contains("full_name is a method of an extension, and no property of Person"), "\(lines)")
    #expect(lines[5] == "extension2.lua:5: no luck", "\(lines)")
  }

  @Test(arguments: [
    ("Person = { methods = {\n id = print } }", "Person: the method id would hide the method id that every object has"),
    (
      "Person = { methods = {\n age = print } }",
      "the method age would be hidden by the property Person.age, which wins"
    ),
    (
      "Employee = { methods = {\n fullName = print } }",
      "the method fullName would be hidden by the property Employee.fullName"
    ),
    ("Person = { methods = {\n x = 1 } }", "entities.Person.methods.x: a function is expected, not a number"),
    ("Person = { method = {\n x = print } }", "entities.Person.method: this key is unknown; did you mean methods?"),
    ("Persn = {\n methods = {} }", "the model has no entity Persn; did you mean Person?"),
    ("Person = { methods = {\n full_name = print } }", "method Person.full_name is already provided by extension2.lua"),
  ])
  func namesThatAreTakenAreRefusedAtLoad(_ entry: String, _ message: String) {
    let error = #expect(throws: (any Error).self) { try bench(beside: ["return { entities = { \(entry) } }"]) }
    #expect("\(error as Any)".contains(message), "\(error as Any)")
    #expect("\(error as Any)".contains("extension3.lua:"), "\(error as Any)")
  }

  /// A property of a subentity takes precedence; the method is still callable through `moonbase.object`.
  @Test func aPropertyOfASubentityWins() throws {
    let file = "return { entities = { Person = { methods = { title = function() return 'method' end } } } }"
    let lines = try bench(beside: [file]).lines(
      """
      local p, e = context:insert("Person"), context:insert("Employee", { title = "Dr" })
      print(p:title(), e.title, moonbase.object.title(e))
      """, leavingChanges: true)
    #expect(lines == ["method\tDr\tmethod"])
  }

  /// Methods from Swift and from scripts form one set.
  @Test(arguments: StoreKind.allCases) func swiftMayGiveMethodsToo(_ kind: StoreKind) throws {
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: ScriptBench.model))
    let swift = ExtensionSource.entity("Person") {
      var person = EntityExtension()
      person.methods["greeting"] = { arguments, person in
        guard case .string(let word)? = arguments.first else {
          throw GraphError(.invalidValue, message: "a word is wanted")
        }
        guard case .string(let name) = try person.call("full_name") else { return .null }
        return .string("\(word) \(name)")
      }
      return person
    }
    let extensions = try ScriptExtensions(
      [swift, .text(ScriptBench.colors, name: "colors.lua"), .text(Self.address, name: "address.lua")], for: model)
    let coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
    let folder = try TemporaryFolder()
    try coordinator.add(kind.store(for: extensions.resolvedModel, in: folder))
    let domain = try ScriptDomain()
    defer { domain.close() }
    let context = try domain.context(of: StoreHandle(coordinator: coordinator, extensions: extensions))
    try domain.setContext(context)
    let results = try domain.state.load(
      """
      local p = moonbase.context:insert("Person", { firstName = "Ann", lastName = "Lee" })
      local ok, err = pcall(p.greeting, p)
      return p:greeting("Hello"), moonbase.object.greeting(p, "Hi"), ok, tostring(err)
      """, name: "s.lua")()
    #expect(results.prefix(2).map(\.textValue) == ["Hello Ann Lee", "Hi Ann Lee"])
    #expect(results[2].booleanValue == false && results[3].textValue?.contains("a word is wanted") == true)
    #expect(throws: ScriptError.self) {
      try ScriptExtensions(
        [
          .entity("Person") {
            var person = EntityExtension()
            person.methods["validate"] = { _, _ in .null }
            return person
          }
        ], for: model)
    }
  }

  @Test func aReloadReplacesThemForHandlesThatAreThere() throws {
    let folder = try TemporaryFolder()
    func file(_ methods: String) -> String { "return { entities = { Person = { methods = { \(methods) } } } }" }
    func write(_ text: String) throws { try Data(text.utf8).write(to: folder.file("e.lua")) }
    try write(file("one = function() return 1 end"))
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: ScriptBench.model))
    let extensions = try ScriptExtensions(
      [.text(ScriptBench.colors, name: "colors.lua"), .directory(folder.url)], for: model)
    let coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
    try coordinator.add(StoreKind.memory.store(for: extensions.resolvedModel, in: folder))
    let domain = try ScriptDomain()
    defer { domain.close() }
    let context = try domain.context(of: StoreHandle(coordinator: coordinator, extensions: extensions))
    try domain.setContext(context)
    let person = try context.insert("Person")
    let made = try domain.state.load(
      """
      local p = moonbase.context:fetch("Person"):first()
      return function(text) return tostring(select(2, pcall(assert(load("local p = ... return " .. text)), p))) end
      """, name: "s.lua")()
    guard case .function(let evaluate)? = made.first else { return }
    func run(_ text: String) throws -> String? { try evaluate.call([.text(text)]).first?.textValue }
    func reload(_ text: String) throws {
      try write(text)
      try extensions.reload()
      try context.reloadExtensions()
    }
    #expect(try run("p:one()") == "1" && person.call("one") == 1)
    try reload(file("one = function() return 'one' end, two = function() return 2 end"))
    #expect(try run("p:one() .. p:two() .. moonbase.object.two(p)") == "one22" && person.call("two") == 2)
    for broken in ["return return", file("id = print"), file("one = 1")] {
      #expect(throws: (any Error).self) { try reload(broken) }
      #expect(try run("p:one() .. p:two()") == "one2" && person.call("two") == 2)
    }
    try reload(file("two = function() return 3 end"))
    #expect(try run("p:one()")?.contains("Person has no property one") == true && run("p:two()") == "3")
    #expect(try run("moonbase.object.one(p)")?.contains("moonbase.object has no 'one'") == true)
    #expect(throws: GraphError.self) { try person.call("one") }
  }
}
