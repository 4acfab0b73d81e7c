import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// The cost of checking that no save leaves a dangling reference.
@Suite struct ReferenceCheckTests {
  private static func model() -> ManagedObjectModel {
    ManagedObjectModel {
      EntityDescription("P") {
        AttributeDescription("n", type: .integer64)
        RelationshipDescription.toOne("o", destination: "P", inverse: "c")
        RelationshipDescription.toMany("c", destination: "P", inverse: "o")
        RelationshipDescription.toMany("m", destination: "P", inverse: "m")
        RelationshipDescription.toOne("x", destination: "P")
        RelationshipDescription.toMany("y", destination: "P")
      }
    }
  }

  private func insert(_ context: ManagedObjectContext, _ n: Int64) throws -> ManagedObject {
    try context.insert("P", values: ["n": .int(n)])
  }

  @Test func aSaveAsksOnceForEachTableThatIsPointedAtAndNotForWhatItInsertsItself() throws {
    let folder = try TemporaryFolder()
    let model = try Self.model().resolved()
    let store = try SQLiteStore(url: folder.file(), model: model)
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(store)
    let context = try ManagedObjectContext(coordinator)
    func questions(_ body: () throws -> Void) throws -> [String] {
      let log = Lock<[String]>([])
      store.statements.listen { sql in log.withLock { $0.append(sql) } }
      defer { store.statements.listen(nil) }
      try body()
      return log.withLock { $0.filter { $0.contains("json_each") } }
    }
    let roots = try (0..<3).map { try insert(context, $0) }
    for n in 0..<60 { try insert(context, Int64(n)).setObject(roots[n % 3], forKey: "o") }
    #expect(try questions { try context.save() } == [])
    for n in 0..<60 { try insert(context, Int64(n)).setObject(roots[n % 3], forKey: "o") }
    let exists =
      "SELECT value FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM ZP WHERE Z_PK = value) LIMIT 100"
    #expect(try questions { try context.save() } == [exists])
    for root in roots { try root.setValue(7, forKey: "n") }
    #expect(try questions { try context.save() } == [])
    for root in roots { try context.delete(root) }
    let pointing = "SELECT ZO, Z_PK, Z_ENT FROM ZP WHERE ZO IN (SELECT value FROM json_each(?)) LIMIT 100"
    #expect(try questions { try context.save() } == [pointing])
    let plan = try RawDatabase(folder.file()).rows("EXPLAIN QUERY PLAN " + pointing.replacing("?", with: "'[1]'"))
    #expect("\(plan)".contains("USING INDEX") && !"\(plan)".contains("SCAN ZP"), "\(plan)")
  }

  @Test func whoLeadsToDeletedObjectsByTheOtherSideOfAOneToOneRelationshipIsAskedOnceForMany() throws {
    let people = try PeopleStore(
      ManagedObjectModel {
        EntityDescription("State") { RelationshipDescription.toOne("owner", destination: "Owner", inverse: "state") }
        EntityDescription("Owner") { RelationshipDescription.toOne("state", destination: "State", inverse: "owner") }
      })
    let states = try (0..<100).map { _ in try people.row("State") }
    let owners = try states.prefix(60).map { try people.row("Owner", ["state": .objectID($0.id)]) }
    try people.save { $0.inserted = RowBatch(states + owners) }
    let coordinator = PersistentStoreCoordinator(model: people.model)
    try coordinator.add(people.store)
    let context = try ManagedObjectContext(coordinator)
    let objects = try context.fetch(FetchRequest("State"))
    for object in objects { try context.delete(object) }
    let asked = try people.statements { try context.processPendingChanges() }
    #expect(asked.filter { $0.contains("FROM ZOWNER") }.count == 2, "\(asked)")
    try context.save()
    #expect(try RawDatabase(people.folder.file()).rows("SELECT COUNT(ZSTATE), COUNT(*) FROM ZOWNER") == ["0|60"])
    // An object that is new, or whose own row has the reference, needs no query.
    let owner = try context.insert("Owner")
    let state = try context.insert("State")
    try owner.setObject(state, forKey: "state")
    try context.save()
    let statements = try people.statements {
      try owner.setObject(try context.insert("State"), forKey: "state")
      try owner.setObject(nil, forKey: "state")
    }
    #expect(statements == [] && state.isUpdated)
  }
}
