import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

@Suite("Damaged numbers in a store")
struct DamagedStoreTests {
  private static func damage(_ people: PeopleStore, _ sql: String) throws {
    try RawDatabase(people.folder.file()).connection.executeScript(sql)
  }

  @Test(
    "a greatest key that no key can follow is refused and left alone",
    arguments: ["-9e999", "9223372036854775807", "-10", "'text'", "x'00ff'", "1.5"])
  func greatestKey(_ value: String) throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person"))
    try Self.damage(people, "UPDATE Z_PRIMARYKEY SET Z_MAX = \(value)")
    let before = try RawDatabase(people.folder.file()).rows("SELECT quote(Z_MAX) FROM Z_PRIMARYKEY")
    let error = #expect(throws: GraphError.self) {
      try people.store.reserveKeys(for: people.entity("Person"), count: 3)
    }
    #expect(error?.code == .invalidStore)
    #expect(error?.message.contains("Z_MAX") == true)
    #expect(try RawDatabase(people.folder.file()).rows("SELECT quote(Z_MAX) FROM Z_PRIMARYKEY") == before)
  }

  @Test("the last keys there are can be given out")
  func lastKeys() throws {
    let people = try PeopleStore()
    try Self.damage(people, "UPDATE Z_PRIMARYKEY SET Z_MAX = \(Int64.max - 2)")
    #expect(try people.store.reserveKeys(for: people.entity("Person"), count: 2) == Int64.max - 1)
    #expect(throws: GraphError.self) { try people.store.reserveKeys(for: people.entity("Person"), count: 1) }
  }

  @Test(
    "an entity number that no entity has is refused",
    arguments: [-1, 0, 400_000_000, Int64.max, Int64.min])
  func entityNumber(_ number: Int64) throws {
    let people = try PeopleStore()
    try Self.damage(people, "UPDATE Z_PRIMARYKEY SET Z_ENT = \(number) WHERE Z_NAME = 'Person'")
    let error = #expect(throws: GraphError.self) {
      try SQLiteStore(url: people.folder.file(), model: people.model)
    }
    #expect(error?.code == .invalidStore)
    #expect(error?.message.contains("Person") == true)
    #expect(error?.message.contains("\(number)") == true)
  }

  @Test("two entities of one number are refused")
  func sameNumber() throws {
    let people = try PeopleStore()
    // The name is stale, so the entity takes the number of its place, which another one has.
    try Self.damage(
      people,
      "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Old' WHERE Z_NAME = 'Department'; "
        + "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'; UPDATE Z_PRIMARYKEY SET Z_NAME = 'Person' WHERE Z_NAME = 'Old'"
    )
    let error = #expect(throws: GraphError.self) {
      try SQLiteStore(url: people.folder.file(), model: people.model)
    }
    #expect(error?.code == .invalidStore)
  }

  @Test("a row of an unknown entity is named, not read as another one", arguments: ["Department", "Person"])
  func unknownEntity(_ entity: String) throws {
    let people = try PeopleStore()
    let id = try people.insert(people.row(entity))[0]
    try Self.damage(people, "UPDATE Z\(entity.uppercased()) SET Z_ENT = 77")
    let reads: [() throws -> Void] = [
      { _ = try people.store.snapshots(matching: people.query(entity)) },
      { _ = try people.store.objectIDs(matching: people.query(entity)) },
    ]
    for read in reads {
      let error = #expect(throws: GraphError.self, performing: read)
      #expect(error?.code == .invalidStore)
      #expect(error?.message.contains("Z\(entity.uppercased()), row \(id.key)") == true)
      #expect(error?.message.contains("77") == true)
    }
  }

  @Test("a version that none can follow is refused when the object is saved")
  func version() throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person"))
    try Self.damage(people, "UPDATE ZPERSON SET Z_OPT = \(Int64.max)")
    let coordinator = PersistentStoreCoordinator(model: people.model)
    coordinator.add(people.store)
    let context = try ManagedObjectContext(coordinator)
    let person = try #require(try context.fetch(FetchRequest("Person")).first)
    try person.setValue(.int(7), forKey: "age")
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .invalidStore)
    #expect(error?.message.contains("Z_OPT") == true)
  }
}
