import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbaseSQLite
import MoonbaseTestSupport
import MoonbasePlatform
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// Migration policies written by programs.
@Suite struct EntityMigrationPolicyTests {
  private let world: MappedStore

  init() throws { world = try MappedStore() }

  /// Reports the calls of a policy and throws at one of them.
  private final class Listener: EntityMigrationPolicy {
    struct Stop: Error, CustomStringConvertible { let description = "no more" }

    var calls: [String] = []
    var failing: String?

    private func note(_ call: String, _ manager: MigrationManager) throws {
      if call == failing { throw Stop() }
      if calls.last != call { calls.append(call) }
    }

    override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws { try note("begin", manager) }
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      #expect(manager.currentEntityMapping == mapping)
      try note("create", manager)
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    }
    override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
      try note("end of creation", manager)
    }
    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try note("relationships", manager)
      try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
    }
    override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
      try note("end of relationships", manager)
    }
    override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
      try note("validation", manager)
    }
    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws { try note("end", manager) }
  }

  private static let calls = [
    "begin", "create", "end of creation", "relationships", "end of relationships", "validation", "end",
  ]

  private func mapping(policy: String = "Policy") throws -> MappingModel {
    var mapping = try MappedStore.mapping
    mapping.entityMappings[0].migrationPolicyClassName = policy
    return mapping
  }

  @Test func theHooksComeInTheirOrder() throws {
    let policy = Listener()
    try world.migrate(mapping(), policies: ["Policy": policy])
    #expect(policy.calls == Self.calls)
    #expect(try RawDatabase(world.store.url).rows("SELECT ZNAME FROM ZHUMAN") == ["Ann Lee", "Ben Lee", "Cem Ay"])
  }

  @Test(arguments: Self.calls) func aHookThatFailsLeavesTheStoreAsItWas(_ call: String) throws {
    let before = try world.everything()
    let policy = Listener()
    policy.failing = call
    let error = #expect(throws: (any Error).self) { try world.migrate(mapping(), policies: ["Policy": policy]) }
    if call == "create" || call == "relationships" {
      let entity = call == "create" ? "Person" : "Human"
      let graph = try #require(error as? GraphError)
      #expect(graph.message == "PersonToHuman, row 2 of \(entity): no more" && graph.entity == entity)
    } else {
      #expect(error is Listener.Stop)
    }
    #expect(try world.everything() == before)
  }

  /// Each person becomes one human per word of the name; people without a home are dropped, Ben gets a new pet, and all
  /// humans share an address.
  private final class OwnPolicy: EntityMigrationPolicy {
    var shared: ManagedObjectID?

    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      guard try source.object(forKey: "home") != nil else { return }
      let human = try manager.insertDestinationInstance(forSource: source, in: mapping)
      try human.setValue(.string("the \(human["name"].string ?? "")"), forKey: "name")
      guard source["first"] == "Ben" else { return }
      let pet = try manager.destinationContext.insert("Pet", values: ["name": "Kit"])
      try manager.associate(sourceInstance: source, withDestinationInstance: pet, for: mapping)
    }

    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      if destination.entity.name == "Pet" {
        let sources = try manager.sourceInstances(
          forEntityMappingNamed: mapping.name, destinationInstances: [destination])
        let made = try manager.destinationInstances(forEntityMappingNamed: mapping.name, sourceInstances: sources)
        return try destination.setObject(made.first { $0.entity.name == "Human" }, forKey: "owner")
      }
      let address = try shared.map(manager.destinationContext.object) ?? manager.destinationContext.insert("Address")
      if shared == nil {
        try manager.destinationContext.obtainPermanentIDs(for: [address])
        shared = address.objectID
      }
      try destination.setObject(address, forKey: "address")
    }
  }

  @Test func aPolicyMakesConnectsAndLeavesOutObjects() throws {
    try world.migrate(mapping(), policies: ["Policy": OwnPolicy()])
    let raw = try RawDatabase(world.store.url)
    #expect(try raw.rows("SELECT Z_PK, ZNAME FROM ZHUMAN ORDER BY Z_PK") == ["2|the Ann Lee", "3|the Ben Lee"])
    #expect(try raw.rows("SELECT ZNAME, ZOWNER FROM ZPET ORDER BY ZNAME") == ["Kit|3", "Tom|"])
    #expect(try raw.rows("SELECT COUNT(DISTINCT ZADDRESS) FROM ZHUMAN WHERE ZADDRESS IS NOT NULL") == ["1"])
  }

  /// Keeps objects beyond the migration, which is not permitted.
  private final class Keeper: EntityMigrationPolicy {
    var kept: [AnyObject] = []

    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      kept += [manager, source, try manager.insertDestinationInstance(forSource: source, in: mapping)]
    }
  }

  @Test func aPolicyThatKeepsObjectsKeepsNoFileOpen() throws {
    let policy = Keeper()
    try world.migrate(mapping(), policies: ["Policy": policy])
    #expect(!policy.kept.isEmpty)
    #expect(try world.store.folder.contents().keys.sorted() == [".store_SUPPORT", "store.sqlite"])
    try world.store.using(MappedStore.new) { context in
      let count = try context.count(FetchRequest("Human"))
      #expect(count == 3)
    }
  }
}
