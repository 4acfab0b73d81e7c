import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

/// The Lua form of a model.
@Suite struct ModelTreeTests {
  private func model(_ entities: ModelTree) throws -> ManagedObjectModel {
    try ManagedObjectModel(tree: .map(["version": "1", "entities": entities]), file: "model.lua")
  }

  private func person(_ entries: KeyValuePairs<String, ModelTree>) throws -> EntityDescription {
    try #require(try model(.map(["Person": .map(entries)])).entities.first)
  }

  private func message(_ body: () throws -> some Any) -> String {
    do {
      _ = try body()
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test func anAttributeIsATypeOrATable() throws {
    let entity = try person([
      "attributes": .map([
        "firstName": "string",
        "age": .table(
          ["integer16"],
          entries: [
            .init("optional", tree: false), .init("default", tree: 0), .init("min", tree: 0), .init("max", tree: 150),
          ]),
      ])
    ])
    let (name, age) = (entity.attributes[0], entity.attributes[1])
    #expect(name == AttributeDescription("firstName", type: .string))
    #expect(age.type == .integer16)
    #expect(!age.isOptional)
    #expect(age.defaultValue == 0)
    #expect(age.validation.minimum == 0)
    #expect(age.validation.maximum == 150)
  }

  @Test func theTypeInSwiftStandsInTheUserInfo() throws {
    func attribute(_ entries: [ModelTree.Entry]) throws -> AttributeDescription {
      let kind = ModelTree.table(["string"], entries: entries)
      return try person(["attributes": .map(["kind": kind])]).attributes[0]
    }
    let named = try attribute([.init("swift", tree: "Kind"), .init("user_info", tree: .map(["note": "a"]))])
    #expect(named.userInfo == ["swift": "Kind", "note": "a"] && named.swiftTypeName == "Kind")
    #expect(try attribute([.init("user_info", tree: .map(["swift": "Kind"]))]).swiftTypeName == "Kind")
    #expect(try attribute([.init("user_info", tree: .map(["swift": 3]))]).userInfo == ["swift": 3])
    let twice = message {
      try attribute([.init("swift", tree: "Kind"), .init("user_info", tree: .map(["swift": "Other"]))])
    }
    #expect(twice.contains("swift is Kind, and in user_info something else: name the type once"))
  }

  @Test func theTypeInSwiftIsNoPartOfTheVersion() throws {
    func version(_ type: String?) throws -> ModelVersion {
      var kind = AttributeDescription("kind", type: .string)
      kind.swiftTypeName = type
      return try ManagedObjectModel { EntityDescription("Item") { kind } }.resolved().version
    }
    #expect(try version("Kind") == version(nil))
  }

  @Test func relationshipsSayToOrToMany() throws {
    let entity = try person([
      "relationships": .map([
        "department": .map(["to": "Department", "inverse": "employees", "delete": "deny"]),
        "friends": .map(["to_many": "Person", "inverse": "friends", "ordered": true, "max": 500]),
      ])
    ])
    let (department, friends) = (entity.relationships[0], entity.relationships[1])
    #expect(!department.isToMany)
    #expect(department.deleteRule == .deny)
    #expect(department.inverseName == "employees")
    #expect(friends.maxCount == 500)
    #expect(friends.isOrdered)
  }

  @Test func entriesKeepTheOrderOfTheirLines() throws {
    let attributes = ModelTree.table(
      [],
      entries: [
        .init("a", tree: .value("string", line: 9)), .init("c", tree: .value("string", line: 7)),
        .init("b", tree: .value("string", line: 8)),
      ])
    #expect(try person(["attributes": attributes]).attributes.map(\.name) == ["c", "b", "a"])
  }

  @Test func anUnknownKeyIsAnErrorWithTheNearestName() {
    let tree = ModelTree.table(["string"], entries: [.init("optionl", tree: .value(false, line: 12))], line: 11)
    let text = message { try person(["attributes": .map(["name": tree])]) }
    #expect(text == "model.lua:12: entity Person, attribute name: there is no key optionl; did you mean optional?")
  }

  @Test func anUnknownTypeIsAnErrorWithTheNearestName() throws {
    let text = message { try person(["attributes": .map(["age": .value("integer15", line: 3)])]) }
    #expect(text == "model.lua:3: entity Person, attribute age: there is no type integer15; did you mean integer16?")
  }

  @Test func errorsNameEntityAndProperty() {
    let error = #expect(throws: ModelError.self) {
      try person(["relationships": .map(["boss": .map(["inverse": "staff"])])])
    }
    #expect(error?.entity == "Person")
    #expect(error?.property == "boss")
    #expect(error?.code == .invalidModel)
  }

  @Test(arguments: [
    (ModelTree.map(["entities": 3]), "the model, entities: expected a table, not an integer"),
    (.map(["entites": .table()]), "the model: there is no key entites; did you mean entities?"),
    (
      .map(["entities": .map(["P": .map(["validate": .table()])])]),
      "entity P: there is no key validate: it belongs to an extension, which goes with a model"
    ),
    (.map(["Entities": .table()]), "the model: there is no key Entities; did you mean entities?"),
    (
      .map(["Person": .table()]),
      "the model: there is no key Person; entities belong under entities: entities = { Person = { ... } }"
    ),
    (.map(["Person": "x"]), "the model: there is no key Person; did you mean version?"),
    (
      .map(["entities": .map(["A": .map(["abstract": "yes"])])]),
      "entity A: abstract is true or false, not a string"
    ),
    (
      .map(["entities": .map(["A": .map(["attributes": ["name"]])])]),
      "entity A, attributes: entries need names here"
    ),
    (
      .map(["entities": .map(["A": .map(["relationships": .map(["b": .map(["to": "A", "delete": "cascad"])])])])]),
      "entity A, relationship b: delete is one of no_action, nullify, cascade, deny, not cascad; did you mean cascade?"
    ),
    (
      .map([
        "entities": .map(["A": .map(["attributes": .map(["b": .table(["string"], entries: [.init("min", tree: 1)])])])])
      ]),
      "entity A, attribute b: a string has min_length, not min"
    ),
    (
      .map([
        "entities": .map([
          "A": .map(["attributes": .map(["b": .table(["string"], entries: [.init("one_of", tree: .map([:]))])])])
        ])
      ]),
      "entity A, attribute b: one_of is empty, so that no value would be allowed: list the values"
    ),
    (
      .map(["entities": .map(["A": .table([], entries: [.init("user_info", tree: twoForms)])])]),
      "entity A, user_info: the key e\u{301} is there in two forms of Unicode, of which a map can keep one: rename one"
    ),
    (
      .map(["entities": .map(["A": .table([], entries: [.init("user_info", tree: .map(["a": .table([twoForms])]))])])]),
      "entity A, user_info: the key e\u{301} is there in two forms of Unicode, of which a map can keep one: rename one"
    ),
  ])
  func mistakesAreExplained(tree: ModelTree, expected: String) {
    let text = message { try ManagedObjectModel(tree: tree, file: "m.lua") }
    #expect(text == "m.lua: \(expected)")
  }

  /// In Swift the two spellings are a single key, in Lua two keys.
  private static let twoForms = ModelTree.table([], entries: [.init("\u{e9}", tree: 1), .init("e\u{301}", tree: 2)])

  @Test func everythingElseOfAnEntityIsRead() throws {
    let entity = try person([
      "parent": "Being", "class": "PersonClass", "abstract": true, "user_info": .map(["a": 1, "b": ["x", "y"]]),
      "constraints": [["email"], ["first", "last"]],
      "indexes": .map(["byAge": ["-age", "name"]]), "renamed_from": "Human", "version_hash_modifier": "2",
    ])
    #expect(entity.superentityName == "Being")
    #expect(entity.managedObjectClassName == "PersonClass")
    #expect(entity.isAbstract)
    #expect(entity.userInfo == ["a": 1, "b": ["x", "y"]])
    #expect(entity.uniquenessConstraints == [["email"], ["first", "last"]])
    #expect(entity.indexes.map(\.name) == ["byAge"])
    #expect(entity.indexes[0].elements.map(\.isAscending) == [false, true])
    #expect(entity.renamingIdentifier == "Human")
    #expect(entity.versionHashModifier == "2")
  }

  @Test func configurationsAndFetchRequestsAreRead() throws {
    let model = try ManagedObjectModel(
      tree: .map([
        "entities": .map(["Person": .table()]), "configurations": .map(["Local": ["Person"]]),
        "fetch_requests": .map([
          "olderThan": .table(
            ["Person", "age > $AGE"], entries: [.init("sort", tree: ["lastName", "-age"]), .init("limit", tree: 5)])
        ]),
      ]), file: "m.lua")
    #expect(model.configurations == ["Local": ["Person"]])
    let request = try #require(model.fetchRequestTemplates["olderThan"])
    #expect(request.entityName == "Person")
    #expect(request.predicate != nil)
    #expect(request.sortDescriptors == [SortDescriptor("lastName"), SortDescriptor("age", ascending: false)])
    #expect(request.fetchLimit == 5)
  }

  @Test func everythingOfAFetchIsRead() throws {
    let fetch = ModelTree.table(
      ["Person", "age > 3"],
      entries: [
        .init("result", tree: "dictionaries"),
        .init("columns", tree: ["kind", .table(["total", "@sum.age"], entries: [.init("type", tree: "double")])]),
        .init("group_by", tree: "kind"), .init("having", tree: "total > 3"), .init("distinct", tree: true),
        .init("refresh", tree: true),
        .init("prefetch", tree: ["friends"]), .init("faults", tree: false), .init("offset", tree: 2),
      ])
    let model = try ManagedObjectModel(
      tree: .map(["entities": .map(["Person": .table()]), "fetch_requests": .map(["f": fetch])]), file: "m.lua")
    let request = try #require(model.fetchRequestTemplates["f"])
    #expect(request.resultType == .dictionaries)
    #expect(request.propertiesToFetch.map(\.name) == ["kind", "total"])
    #expect(request.propertiesToFetch[1].resultType == .double)
    #expect(request.propertiesToGroupBy == ["kind"])
    #expect(request.havingPredicate != nil)
    #expect(request.returnsDistinctResults)
    #expect(try ManagedObjectModel(tree: model.tree(), file: "m.lua") == model)
    #expect(throws: ModelError.self) { try model.xcodeContents() }
  }
}
