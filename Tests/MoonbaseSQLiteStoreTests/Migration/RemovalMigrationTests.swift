import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// Properties and entities that the next version removes: without stored values they are dropped, otherwise the caller
/// must allow the loss.
@Suite struct RemovalMigrationTests {
  private let store: MigratedStore
  private let old = ManagedObjectModel {
    EntityDescription("Person") {
      AttributeDescription("name", type: .string)
      AttributeDescription("fax", type: .string)
      AttributeDescription("telex", type: .string)
      AttributeDescription("loud", type: .string).with { $0.derivationExpression = "uppercase:(name)" }
      AttributeDescription("seen", type: .date).with { $0.derivationExpression = "now()" }
      RelationshipDescription.toOne("home", destination: "House", inverse: "people")
      RelationshipDescription.toMany("friends", destination: "Person", inverse: "friends")
      RelationshipDescription.toMany("bookmarks", destination: "House")
    }
    EntityDescription("Worker", parent: "Person") { AttributeDescription("wage", type: .double) }
    EntityDescription("House") {
      AttributeDescription("street", type: .string)
      RelationshipDescription.toMany("people", destination: "Person", inverse: "home")
    }
    EntityDescription("Ghost") { AttributeDescription("name", type: .string) }
  }

  /// Ann and the worker Ben have a fax number, live in a house and are friends, and Ann is marked.
  init() throws {
    store = try MigratedStore()
    try store.fill(old) { context in
      let house = try context.insert("House", values: ["street": "Elm"])
      let ann = try context.insert("Person", values: ["name": "Ann", "fax": "1"])
      let ben = try context.insert("Worker", values: ["name": "Ben", "fax": "2", "wage": 7.5])
      for person in [ann, ben] { try person.setObject(house, forKey: "home") }
      try ann.setObjects([ben], forKey: "friends")
      try ann.setObjects([house], forKey: "bookmarks")
    }
  }

  private func changed(_ entity: String, without names: String...) -> ManagedObjectModel {
    old.changed { model in
      model[entity: entity].attributes.removeAll { names.contains($0.name) }
      model[entity: entity].relationships.removeAll { names.contains($0.name) }
    }
  }

  private func losses(_ model: ManagedObjectModel) throws -> [String] {
    try store.plan(to: model).losses.map(\.description)
  }

  @Test func whatNoRowHasAnythingInGoesWithoutAsking() throws {
    var new = changed("Person", without: "telex", "loud")
    new.entities.removeAll { $0.name == "Ghost" }
    let plan = try store.migrate(to: new)
    #expect(plan.losses == [])
    #expect(
      plan.description == """
        ~ Person (1 row): - loud, - telex
        ~ Worker (1 row): - loud, - telex
        - Ghost (0 rows)
        """)
    #expect(try store.schema() == MigratedStore.schema(of: new))
  }

  /// An entity that leaves its parent loses the relationships inherited from the parent, and the references to its
  /// objects.
  @Test func destinationsOfAnEntityThatLeavesItsParentAreTold() throws {
    let new = old.changed { model in
      model[entity: "Worker"].superentityName = nil
      model[entity: "Worker"].attributes += model[entity: "Person"].attributes
    }
    let found = try losses(new)
    for name in ["home", "friends"] {
      #expect(found.contains { $0.contains("Worker.\(name)") && $0.contains("1") }, "\(found)")
    }
    let before = try store.folder.contents()
    #expect(throws: GraphError.self) { try store.migrate(to: new) }
    #expect(try store.folder.contents() == before)
  }

  @Test func valuesOfEachEntityAreToldAndKept() throws {
    let before = try store.folder.contents()
    let new = changed("Person", without: "fax", "telex")
    let error = #expect(throws: GraphError.self) { try store.migrate(to: new) }
    #expect(error?.code == .migrationLoss && error?.entity == "Person" && error?.property == "fax")
    #expect(
      error?.details.map(\.message) == [
        "Person.fax: 1 row holds a value, and the newer model has no such attribute (row 1)",
        "Worker.fax: 1 row holds a value, and the newer model has no such attribute (row 2)",
      ])
    // Each loss is reported once.
    #expect("\(try #require(error))".components(separatedBy: "Worker.fax").count == 2)
    #expect(try store.folder.contents() == before)
    try store.migrate(to: new, allowsLoss: true)
    #expect(try store.schema() == MigratedStore.schema(of: new))
  }

  @Test func aStoreThatIsOpenedLosesNothingUnlessItsOptionsSaySo() throws {
    let before = try store.folder.contents()
    let new = changed("House", without: "street")
    var migration = AutomaticMigration()
    let error = #expect(throws: GraphError.self) { try store.using(new, migration: migration) { _ in } }
    #expect(error?.code == .migrationLoss)
    let text = "\(try #require(error))"
    #expect(text.contains("House.street: 1 row") && text.contains("allowsMigrationLoss of the store's description"))
    #expect(try store.folder.contents() == before)
    migration.allowsLoss = true
    let names = try store.using(new, migration: migration) { context in
      try context.fetch(FetchRequest("Person")).map { $0["name"] }
    }
    #expect(Set(names) == ["Ann", "Ben"])
  }

  @Test func objectsOfAnEntityThatGoesAreALoss() throws {
    let new = old.changed { $0.entities.removeAll { $0.name == "Worker" } }
    #expect(try losses(new) == ["Worker: 1 row would go, because the newer model has no such entity (row 2)"])
    let abstract = old.changed { $0[entity: "Person"].isAbstract = true }
    #expect(try losses(abstract) == ["Person: 1 row would go, because the entity is abstract now (row 1)"])
  }

  @Test func aRelationshipIsToldAtOneOfItsSides() throws {
    let new = old.changed { model in
      model[entity: "Person"].relationships.removeAll { $0.name == "home" }
      model[entity: "House"].relationships = []
    }
    #expect(
      try losses(new) == ["House.people: 1 row has destinations, and the newer model has no such relationship (row 1)"])
  }

  @Test func destinationsThatTheOtherSideKeepsAreNoLoss() throws {
    // No renaming identifier maps `home` to `address`, but `address` is the inverse of the former `people`.
    let new = old.changed { model in
      model[entity: "Person"].relationships[0].name = "address"
      model[entity: "House"].relationships[0].inverseName = "address"
    }
    #expect(try losses(new) == [])
    try store.migrate(to: new)
    let streets = try store.using(new) { context in
      try context.fetch(FetchRequest("Person")).map { try $0.object(forKey: "address")?["street"] }
    }
    #expect(streets == ["Elm", "Elm"])
  }

  @Test func relationshipsWithOneSideAreToldToo() throws {
    #expect(
      try losses(changed("Person", without: "friends")).sorted() == [
        "Person.friends: 1 row has destinations, and the newer model has no such relationship (row 1)",
        "Worker.friends: 1 row has destinations, and the newer model has no such relationship (row 2)",
      ])
    #expect(
      try losses(changed("Person", without: "bookmarks")) == [
        "Person.bookmarks: 1 row has destinations, and the newer model has no such relationship (row 1)"
      ])
  }

  @Test func valuesThatAreNotStoredAnyMoreAreALoss() throws {
    let transient = old.changed { $0[entity: "Person"].attributes[1].isTransient = true }
    #expect(try losses(transient).first == "Person.fax: 1 row holds a value, and it is transient now (row 1)")
    let derived = old.changed { $0[entity: "Person"].attributes[1].derivationExpression = "name" }
    #expect(try losses(derived).first == "Person.fax: 1 row holds a value, and it is derived now (row 1)")
    // A new required value is different from a renamed attribute.
    let required = old.changed {
      $0[entity: "Person"].attributes.append(AttributeDescription("mood", type: .string).required())
    }
    let store = try MigratedStore()
    try store.fill(old) { context in try context.insert("Person") }
    let error = #expect(throws: GraphError.self) { try store.migrate(to: required) }
    let advice = "give Person.mood a default, make it optional, or say by a mapping what it is (--mapping)"
    #expect(error?.message.contains(advice) == true && error?.message.contains("renaming") == false, "\(error as Any)")
    // The time at which an object was written is stored nowhere else.
    #expect(try losses(changed("Person", without: "seen")).count == 2)
  }

  /// A plain attribute becomes derived and a derived one plain: the values stay under their new names.
  @Test(arguments: ["now()", "plain", "copy"]) func attributesThatSwapNamesLoseNothing(_ kind: String) throws {
    func model(_ plain: String, _ derived: String, renamed: Bool) -> ManagedObjectModel {
      ManagedObjectModel {
        EntityDescription("P") {
          AttributeDescription(plain, type: .date).with { $0.renamingIdentifier = renamed ? derived : nil }
          AttributeDescription(derived, type: .date).with {
            $0.derivationExpression = kind == "now()" ? "now()" : plain
            $0.renamingIdentifier = renamed && kind == "plain" ? plain : nil
          }
        }
      }
    }
    let store = try MigratedStore()
    let day = Value.date(Date(timeIntervalSinceReferenceDate: 86_400))
    try store.fill(model("a", "b", renamed: false)) { context in try context.insert("P", values: ["a": day]) }
    let before = try RawDatabase(store.url).rows("SELECT ZA, ZB FROM ZP")
    let new = model("b", "a", renamed: kind != "copy")
    let plan = try store.migrate(to: new)
    #expect(plan.losses == [], "\(plan)")
    #expect(try RawDatabase(store.url).rows("SELECT ZB, ZA FROM ZP") == before)
  }
}
