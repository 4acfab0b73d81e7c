import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// Migrating a store from one version of a model to the next.
@Suite struct StoreMigrationTests {
  private let store: MigratedStore
  private let old = ManagedObjectModel {
    EntityDescription("Person") {
      AttributeDescription("name", type: .string)
      AttributeDescription("fax", type: .string)
      AttributeDescription("age", type: .integer16)
      RelationshipDescription.toOne("home", destination: "House", inverse: "people")
    }
    EntityDescription("House") {
      AttributeDescription("street", type: .string)
      RelationshipDescription.toMany("people", destination: "Person", inverse: "home")
    }
  }
  /// `fax` is removed, `name` is called `fullName`, `nickname` is new, and a new entity comes first in the order of the
  /// numbers.
  private var new: ManagedObjectModel {
    old.changed { model in
      model[entity: "Person"].attributes = [
        AttributeDescription("fullName", type: .string).with { $0.renamingIdentifier = "name" },
        AttributeDescription("age", type: .integer16),
        AttributeDescription("nickname", type: .string).with { $0.defaultValue = "none" },
      ]
      model.entities.append(EntityDescription("Address") { AttributeDescription("city", type: .string) })
    }
  }

  init() throws {
    store = try MigratedStore()
    try store.fill(old, tracksHistory: true) { context in
      let house = try context.insert("House", values: ["street": "Elm"])
      for (name, age) in [("Ann", 30), ("Ben", 40)] {
        let person = try context.insert("Person", values: ["name": .string(name), "fax": "1", "age": .int(Int64(age))])
        try person.setObject(house, forKey: "home")
      }
    }
  }

  @Test func aStoreOfAnOlderModelIsMigratedWhenItIsOpened() throws {
    let metadata = try SQLiteStore.metadata(ofStoreAt: store.url)
    try store.using(new, migration: AutomaticMigration(allowsLoss: true)) { context in
      let people = try context.fetch(FetchRequest("Person")).sorted { $0.objectID.key < $1.objectID.key }
      #expect(try people.map { try $0.value(forKey: "fullName") } == ["Ann", "Ben"])
      #expect(try people.map { try $0.value(forKey: "age") } == [30, 40])
      #expect(try people.map { try $0.value(forKey: "nickname") } == ["none", "none"])
      #expect(try people[0].object(forKey: "home")?.value(forKey: "street") == "Elm")
      #expect(try context.count(FetchRequest("House")) == 1)
      // New keys follow the existing ones.
      let another = try context.insert("Person")
      try context.save()
      #expect(another.objectID.key == 3)
    }
    let after = try SQLiteStore.metadata(ofStoreAt: store.url)
    #expect(after["NSStoreUUID"] == metadata["NSStoreUUID"])
    #expect(try SQLiteStore.cachedModel(ofStoreAt: store.url).entities.count == 3)
    #expect(try !store.folder.contents().keys.contains { $0.contains(".migration") })
  }

  @Test func aMigratedStoreHasTheTablesOfANewOne() throws {
    try store.migrate(to: new, allowsLoss: true)
    let made = try store.schema().filter { !$0.contains("TRANSACTION") && !$0.contains("CHANGE") }
    #expect(try made == MigratedStore.schema(of: new))
  }

  @Test func withoutTheOptionAnotherModelIsRefusedAndTheFileIsAsItWas() throws {
    let before = try store.folder.contents()
    let error = #expect(throws: GraphError.self) { try store.using(new) { _ in } }
    #expect(error?.code == .incompatibleVersionHash)
    let readOnly = SQLiteStoreOptions(readOnly: true)
    #expect(throws: GraphError.self) {
      try store.using(new, options: readOnly, migration: AutomaticMigration()) { _ in }
    }
    let noMapping = #expect(throws: GraphError.self) {
      try store.using(new, migration: AutomaticMigration(infersMapping: false)) { _ in }
    }
    #expect(noMapping?.code == .missingMappingModel)
    #expect(try store.folder.contents() == before)
  }

  @Test func thePlanSaysWhatHappensAndWritesNothing() throws {
    let before = try store.folder.contents()
    let plan = try store.plan(to: new)
    #expect(
      plan.description == """
        ~ Person (2 rows): ~ fullName (was name), + nickname, - fax
        + Address
        ! Person.fax: 2 rows hold a value, and the newer model has no such attribute (the first is row 1)
        """)
    #expect(plan.losses.count == 1 && plan.rowCount == 3)
    #expect(try store.folder.contents() == before)
    #expect(try store.migrate(to: new, allowsLoss: true) == plan)
    #expect(try store.plan(to: new).description == "no row changes")
  }

  @Test func thePlanTellsOfRowsThatGetADefault() throws {
    let required = old.changed { model in
      model[entity: "Person"].attributes[1].isOptional = false
      model[entity: "Person"].attributes[1].defaultValue = "none"
      model[entity: "Person"].attributes[0].isOptional = false
      model[entity: "Person"].attributes[0].defaultValue = "nobody"
    }
    try store.using(old) { context in
      try context.insert("Person", values: ["name": "Ann"])
      try context.save()
    }
    let plan = try store.plan(to: required)
    #expect(plan.description == "~ Person (3 rows): ~ fax: 1 row gets its default")
    #expect(try store.migrate(to: required) == plan)
    #expect(try RawDatabase(store.url).value("SELECT COUNT(*) FROM ZPERSON WHERE ZFAX = 'none'") == "1")
  }

  @Test func thePlanTellsOfIndexes() throws {
    let indexed = old.changed { model in
      model[entity: "Person"].indexes = [
        FetchIndexDescription("byAge", elements: [.init("age")]),
        FetchIndexDescription("byName", elements: [.init("name")]),
      ]
      model[entity: "House"].uniquenessConstraints = [["street"]]
    }
    #expect(
      try store.plan(to: indexed).description == """
        ~ House (1 row): + uniqueness of street
        ~ Person (2 rows): + index byAge, + index byName
        """)
    try store.migrate(to: indexed)
    let changed = indexed.changed { model in
      model[entity: "Person"].indexes = [FetchIndexDescription("byName", elements: [.init("name"), .init("age")])]
      model[entity: "House"].uniquenessConstraints = []
    }
    #expect(
      try store.plan(to: changed).description == """
        ~ House (1 row): - uniqueness of street
        ~ Person (2 rows): ~ index byName, - index byAge
        """)
  }

  @Test func theHistorySpeaksOfTheEntitiesByTheirNewNumbers() throws {
    let before = try RawDatabase(store.url).rows(
      "SELECT p.Z_NAME, c.ZENTITYPK, c.ZCHANGETYPE FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = c.ZENTITY ORDER BY c.Z_PK"
    )
    #expect(before.count == 3)
    try store.migrate(to: new, allowsLoss: true)
    let after = try RawDatabase(store.url).rows(
      "SELECT p.Z_NAME, c.ZENTITYPK, c.ZCHANGETYPE FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = c.ZENTITY ORDER BY c.Z_PK"
    )
    #expect(after == before)
  }

  @Test func aStoreOfOneConfigurationIsNotMigratedToTheWholeModel() throws {
    let whole = ManagedObjectModel {
      EntityDescription("A") { AttributeDescription("a", type: .string) }
      EntityDescription("B") { AttributeDescription("b", type: .string) }
    }.changed { $0.configurations = ["One": ["A"], "Two": ["B"]] }
    let part = try MigratedStore()
    _ = try SQLiteStore(url: part.url, model: whole.resolved(), configuration: "One")
    let error = #expect(throws: GraphError.self) {
      try part.using(whole, migration: AutomaticMigration()) { _ in }
    }
    #expect(error?.code == .incompatibleVersionHash && error?.message.contains("configuration One") == true)
    // As a part of the model, the store still migrates to the next version.
    let next = whole.changed { $0[entity: "A"].attributes.append(AttributeDescription("c", type: .string)) }
    let store = try SQLiteStore.open(
      url: part.url, model: next.resolved(), configuration: "One", migration: AutomaticMigration())
    #expect(store.entities.map(\.name) == ["A"])
    #expect(try RawDatabase(part.url).rows("SELECT Z_NAME FROM Z_PRIMARYKEY") == ["A"])
  }

  @Test func whatSomebodyAddedToATableStays() throws {
    try RawDatabase(store.url).connection.executeScript(
      """
      CREATE INDEX mine ON ZPERSON (ZAGE); CREATE INDEX gone ON ZPERSON (ZFAX); CREATE TABLE notes (text);
      INSERT INTO notes VALUES ('kept');
      CREATE TRIGGER audit AFTER DELETE ON ZPERSON BEGIN INSERT INTO notes VALUES (OLD.Z_PK); END
      """)
    try store.migrate(to: new, allowsLoss: true)
    let after = try RawDatabase(store.url)
    #expect(
      try after.rows("SELECT name FROM sqlite_master WHERE name IN ('mine', 'gone', 'audit') ORDER BY name") == [
        "audit", "mine",
      ])
    #expect(try after.rows("SELECT text FROM notes") == ["kept"])
    try after.connection.execute("DELETE FROM ZPERSON WHERE Z_PK = 2")
    #expect(try after.rows("SELECT text FROM notes") == ["kept", "2"])
  }
}
