import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// A store runs a query with the translation made for its plan.
@Suite struct PreparedQueryTests {
  private func context(_ people: PeopleStore) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: people.model)
    try coordinator.add(people.store)
    let context = try ManagedObjectContext(coordinator)
    for age in 0..<2000 { try context.insert("Person", values: ["age": .int(Int64(age % 100))]) }
    try context.save()
    return context
  }

  @Test(arguments: [false, true]) func aQueryIsTranslatedOnceForItsPlanAndItsRun(_ hasChanges: Bool) throws {
    let people = try PeopleStore()
    let context = try context(people)
    if hasChanges { try context.fetch(FetchRequest("Person", where: "age == 40"))[0]["age"] = 3 }
    var request = try FetchRequest("Person", where: "age > 10 AND age < 95")
    request.sortDescriptors = [SortDescriptor("firstName"), SortDescriptor("age")]
    (request.fetchLimit, request.fetchOffset) = (1600, 5)
    var keys = request
    keys.includesPropertyValues = false
    var columns = request
    columns.propertiesToFetch = [FetchColumn("age")]
    let ways: [(String, () throws -> Int)] = [
      ("objects", { try context.fetch(request).count }), ("faults", { try context.fetch(keys).count }),
      ("IDs", { try context.fetchIDs(request).count }),
      ("a walk", { try context.fetchedObjects(request).reduce(0) { count, _ in count + 1 } }),
      ("a walk over keys", { try context.fetchedObjects(keys).reduce(0) { count, _ in count + 1 } }),
      ("dictionaries", { try context.fetchDictionaries(columns).count }),
    ]
    for (name, way) in ways {
      let before = people.store.statements.translationCount
      #expect(try way() == 1600, "\(name)")
      #expect(people.store.statements.translationCount == before + 1, "\(name)")
    }
    let before = people.store.statements.translationCount
    #expect(try context.count(request) == 1600)
    // Objects with changes are excluded in SQL, which makes another query.
    #expect(people.store.statements.translationCount == before + (hasChanges ? 2 : 1))
  }

  @Test func whatIsPreparedGoesWithAnotherConditionOrOrderAndStaysWithAnotherWindow() throws {
    let people = try PeopleStore()
    _ = try context(people)
    var query = people.query("Person", try Predicate(format: "age < 10"))
    query.sortDescriptors = [SortDescriptor("age", ascending: false)]
    query.limit = 10
    let plan = try people.store.plan(query)
    var same = plan.query
    #expect(same.prepared != nil && query.prepared == nil)
    (same.limit, same.offset) = (3, 18)
    let rows = try people.store.snapshots(matching: same)
    let age = try #require(people.entity("Person").slot("age"))
    #expect(rows.map { $0.values[age] } == [9, 9, 8])
    (same.limit, same.offset, same.sortDescriptors) = (0, 0, [])
    #expect(same.prepared != nil)
    let log = try people.statements { _ = try people.store.objectIDs(matching: same) }
    #expect(log.count == 1 && !log[0].contains("ORDER BY"), "\(log)")
    var other = same
    other.sortDescriptors = [SortDescriptor("age")]
    #expect(other.prepared == nil)
    other = same
    other.predicate = nil
    #expect(other.prepared == nil)
    #expect(try people.store.count(matching: other) == 2000)
    // Tables and entity numbers of another store differ.
    let stranger = try PeopleStore()
    #expect(try stranger.store.count(matching: same) == 0)
  }
}
