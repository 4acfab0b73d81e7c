import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// Migrating a store to another model with a mapping model.
@Suite struct MappedMigrationTests {
  private let world: MappedStore
  private var store: MigratedStore { world.store }

  init() throws { world = try MappedStore(tracksHistory: true) }

  @Test func attributesAreMadeByExpressionsAndRelationshipsOfWhatObjectsBecame() throws {
    try world.migrate()
    try store.using(MappedStore.new) { context in
      let people = try context.fetch(FetchRequest("Human")).sorted { $0.objectID.key < $1.objectID.key }
      #expect(try people.map { try $0.value(forKey: "name") } == ["Ann Lee", "Ben Lee", "Cem Ay"])
      #expect(try people.map { try $0.value(forKey: "age") } == [30, 40, 50])
      #expect(try people.map { try $0.value(forKey: "kind") } == ["migrated", "migrated", "migrated"])
      #expect(try people[0].value(forKey: "photo") == .data(Data(repeating: 7, count: 200_000)))
      #expect(try people.map { try $0.object(forKey: "address")?["street"] } == ["Elm", "Elm", nil])
      #expect(try people[0].objects(forKey: "animals").map { $0["name"] } == ["Tom"])
      // Only one side of the relationship is mapped.
      #expect(try people[0].objects(forKey: "dogs").map { $0["tricks"] } == [3])
      #expect(people.map(\.objectID.key) == [2, 3, 4])
      let another = try context.insert("Human", values: ["name": "Dee"])
      try context.save()
      #expect(another.objectID.key == 5)
    }
  }

  /// In a mapping model a boolean is a number, as everywhere in Foundation.
  @Test func aNumberIsABoolean() throws {
    let store = try MigratedStore()
    try store.fill(Self.model(AttributeDescription("n", type: .integer64))) { try $0.insert("P", values: ["n": 3]) }
    let new = Self.model(AttributeDescription("yes", type: .boolean), AttributeDescription("no", type: .boolean))
    var entity = EntityMapping(.transform, from: "P", to: "P")
    entity.attributeMappings = [
      PropertyMapping("yes", from: .expression(.keyPath(.variable("source"), ["n"]))),
      PropertyMapping("no", from: .expression(.constant(.int(0)))),
    ]
    try SQLiteStore.migrate(
      storeAt: store.url, to: new.resolved(), with: MappingModel(entityMappings: [entity]), allowsLoss: true)
    try store.using(new) { context in
      let object = try #require(context.fetch(FetchRequest("P")).first)
      #expect(object["yes"] == true && object["no"] == false)
    }
  }

  private static func model(_ attributes: AttributeDescription...) -> ManagedObjectModel {
    var entity = EntityDescription("P")
    entity.attributes = attributes
    return ManagedObjectModel(entities: [entity])
  }

  @Test func theFileIsOneOfTheNewModelAndTheStoreTheSame() throws {
    try RawDatabase(store.url).connection.executeScript(
      "CREATE TABLE mine (x); INSERT INTO mine VALUES (1); CREATE INDEX minePerson ON ZPERSON (ZFIRST)")
    try SQLiteStore.setMetadata(["own": "kept"], ofStoreAt: store.url)
    let metadata = try SQLiteStore.metadata(ofStoreAt: store.url)
    let values = try world.everything().keys.filter { $0.hasPrefix("value") }
    try world.migrate()
    let after = try SQLiteStore.metadata(ofStoreAt: store.url)
    #expect(after["NSStoreUUID"] == metadata["NSStoreUUID"] && after["own"] == "kept")
    #expect(
      try SQLiteStore.cachedModel(ofStoreAt: store.url).resolved().versionHashes
        == MappedStore.new.resolved().versionHashes)
    #expect(try RawDatabase(store.url).rows("SELECT x FROM mine") == ["1"])
    #expect(try RawDatabase(store.url).rows("PRAGMA integrity_check") == ["ok"])
    let made = try store.schema().filter { !$0.contains("mine") }
    let fresh = try MigratedStore()
    try fresh.fill(MappedStore.new, tracksHistory: true) { _ in }
    #expect(try made == fresh.schema())
    // No temporary file is left, and the old value's file is gone.
    #expect(try store.folder.contents().keys.sorted() == [".store_SUPPORT", "store.sqlite"])
    let new = try world.everything().keys.filter { $0.hasPrefix("value") }
    #expect(new.count == 1 && new != values)
  }

  @Test func thePlanSaysWhatHappensAndWritesNothing() throws {
    let before = try world.everything()
    let plan = try SQLiteStore.migrationPlan(
      forStoreAt: store.url, to: MappedStore.new.resolved(), with: MappedStore.mapping)
    #expect(plan.losses == [] && plan.rowCount == 7)
    #expect(plan.description.contains("~ House → Address (1 row)"), "\(plan)")
    #expect(plan.description.contains("- Junk (1 row)"), "\(plan)")
    #expect(plan.description.contains("- the history (2 transactions)"), "\(plan)")
    #expect(try world.everything() == before)
    #expect(try world.migrate() == plan)
  }

  @Test func aHistoryBeginsAnewAndNoNumberIsGivenTwice() throws {
    let greatest = try RawDatabase(store.url).value("SELECT MAX(Z_PK) FROM ATRANSACTION")
    try world.migrate()
    #expect(try RawDatabase(store.url).rows("SELECT * FROM ATRANSACTION") == [])
    #expect(try RawDatabase(store.url).rows("SELECT * FROM ACHANGE") == [])
    try store.using(MappedStore.new) { context in
      try context.insert("Human", values: ["name": "Dee"])
      try context.save()
    }
    let next = try RawDatabase(store.url).rows("SELECT Z_PK FROM ATRANSACTION")
    #expect(next == [String((greatest.flatMap { Int($0) } ?? 0) + 1)])
  }

  @Test func objectsThatNoMappingNamesAreALoss() throws {
    var mapping = try MappedStore.mapping
    mapping.entityMappings.removeLast()
    let before = try world.everything()
    let error = #expect(throws: GraphError.self) { try world.migrate(mapping) }
    #expect(error?.code == .migrationLoss)
    #expect(error?.details.map(\.message) == ["Junk: 1 row would go, because no entity mapping names Junk (row 1)"])
    #expect(try world.everything() == before)
    try world.migrate(mapping, allowsLoss: true)
    try store.using(MappedStore.new) { context in
      let count = try context.count(FetchRequest("Human"))
      #expect(count == 3)
    }
  }

  @Test func whatNoMappingTakesIsALoss() throws {
    var mapping = try MappedStore.mapping
    // No mapping reads the names of people, houses or pets, and no address gets people.
    mapping.entityMappings[0].attributeMappings[0].source = .value("nobody")
    mapping.entityMappings[0].relationshipMappings.removeAll { $0.name == "address" }
    mapping.entityMappings[1].attributeMappings = []
    let losses = [
      "House.people: 1 row has destinations, and no mapping takes it (row 1)",
      "House.street: 1 row holds a value, and no mapping takes it (row 1)",
      "Person.first: 3 rows hold a value, and no mapping takes it (the first is row 2)",
      "Person.last: 3 rows hold a value, and no mapping takes it (the first is row 2)",
    ]
    let before = try world.everything()
    let error = #expect(throws: GraphError.self) { try world.migrate(mapping) }
    #expect(error?.code == .migrationLoss && error?.details.map(\.message).sorted() == losses)
    #expect(try world.everything() == before)
    let plan = try SQLiteStore.migrationPlan(
      forStoreAt: store.url, to: MappedStore.new.resolved(), with: mapping)
    #expect(plan.losses.map(\.description).sorted() == losses)
    #expect(plan.description.contains("~ House → Address (1 row): - street, - people"), "\(plan)")
    // An entity with a policy leaves these to the policy.
    mapping.entityMappings[0].migrationPolicyClassName = "P"
    mapping.entityMappings[1].migrationPolicyClassName = "P"
    let left = try world.migrate(mapping, policies: ["P": EntityMigrationPolicy()])
    #expect(left.losses == [] && left.description.contains("- first"), "\(left)")
  }

  @Test func twoEntitiesBecomeOneAndOneBecomesTwo() throws {
    let both = ManagedObjectModel {
      EntityDescription("Thing") { AttributeDescription("title", type: .string) }
      EntityDescription("Label") { AttributeDescription("text", type: .string) }
    }
    func to(_ source: String, _ destination: String, _ new: String, _ old: String) -> EntityMapping {
      var mapping = EntityMapping(.transform, from: source, to: destination)
      mapping.attributeMappings = [PropertyMapping(new, from: .property(old))]
      return mapping
    }
    let mapping = MappingModel(entityMappings: [
      to("Person", "Thing", "title", "first"), to("House", "Thing", "title", "street"),
      to("Person", "Label", "text", "last"), EntityMapping(.remove, from: "Animal", to: nil),
      EntityMapping(.remove, from: "Dog", to: nil), EntityMapping(.remove, from: "Junk", to: nil),
    ])
    try world.migrate(mapping, to: both, allowsLoss: true)
    #expect(
      try RawDatabase(store.url).rows("SELECT Z_PK, ZTITLE FROM ZTHING ORDER BY Z_PK")
        == ["2|Ann", "3|Ben", "4|Cem", "5|Elm"])
    #expect(try RawDatabase(store.url).rows("SELECT ZTEXT FROM ZLABEL ORDER BY Z_PK") == ["Lee", "Lee", "Ay"])
  }

  @Test func aProgressSaysHowFarItIsAndCancels() throws {
    let before = try world.everything()
    let cancelled = Progress(totalUnitCount: 1)
    cancelled.cancel()
    #expect(throws: CancellationError.self) { try world.migrate(progress: cancelled) }
    #expect(try world.everything() == before)
    let progress = Progress(totalUnitCount: 1)
    try world.migrate(progress: progress)
    #expect(progress.isFinished && progress.totalUnitCount == 28)
  }

  @Test func manyObjectsAreMigratedInBatches() throws {
    let many = try MigratedStore()
    let model = ManagedObjectModel {
      EntityDescription("Node") {
        AttributeDescription("n", type: .integer64)
        RelationshipDescription.toOne("next", destination: "Node", inverse: "previous")
        RelationshipDescription.toOne("previous", destination: "Node", inverse: "next")
      }
    }
    try many.fill(model) { context in
      var last: ManagedObject?
      for n in 0..<2_000 {
        let node = try context.insert("Node", values: ["n": .int(Int64(n))])
        try node.setObject(last, forKey: "previous")
        last = node
      }
    }
    let before = try RawDatabase(many.url).rows("SELECT Z_PK, ZN, ZNEXT, ZPREVIOUS FROM ZNODE ORDER BY Z_PK")
    var mapping = EntityMapping(.transform, from: "Node", to: "Node")
    mapping.attributeMappings = [PropertyMapping("n", from: .automatic)]
    mapping.relationshipMappings = [PropertyMapping("next", from: .automatic)]
    let new = model.changed {
      $0[entity: "Node"].attributes.append(
        AttributeDescription("extra", type: .string).with { $0.defaultValue = "x" })
    }
    try SQLiteStore.migrate(
      storeAt: many.url, to: new.resolved(), with: MappingModel(entityMappings: [mapping]))
    #expect(try RawDatabase(many.url).rows("SELECT Z_PK, ZN, ZNEXT, ZPREVIOUS FROM ZNODE ORDER BY Z_PK") == before)
    #expect(try RawDatabase(many.url).rows("SELECT DISTINCT ZEXTRA FROM ZNODE") == ["x"])
  }
}
