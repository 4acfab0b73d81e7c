import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Batch requests that a store executes itself.
@Suite struct BatchInStoreTests {
  /// A store that itself sets constants in all rows and deletes all rows. The coordinator executes all other requests.
  private final class OwnStore: PersistentStore {
    let base: InMemoryStore
    let asked = Lock<[StoreBatchRequest]>([])
    let isWilling = Lock(true)

    init(_ base: InMemoryStore) { self.base = base }

    var identifier: String { base.identifier }
    var type: String { base.type }
    var url: URL? { nil }
    var isReadOnly: Bool { false }
    var entities: [ResolvedEntity] { base.entities }
    func metadata() throws -> [String: Value] { base.metadata() }
    func plan(_ query: StoreQuery) throws -> QueryPlan { base.plan(query) }
    func beginReading(_ extent: ReadScope) throws -> any ReadSession { base.beginReading(extent) }
    func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64 {
      try base.reserveKeys(for: entity, count: count)
    }
    func beginSave(author: String?) throws -> any SaveSession { try base.beginSave(author: author) }

    func execute(_ request: StoreBatchRequest) throws -> StoreBatchResult? {
      asked.withLock { $0.append(request) }
      guard isWilling.withLock({ $0 }) else { return nil }
      let rows = try base.snapshots(matching: request.query)
      let ids = rows.map(\.id)
      var changes = StoreChanges()
      switch request.kind {
      case .delete:
        changes.deleted = rows.map { .init(id: $0.id, expectedVersion: nil) }
        try base.save(changes, author: request.author)
        return StoreBatchResult(objectIDs: ids, changes: SavedObjectIDs(deleted: ids))
      case .update(let newValues):
        for row in rows {
          var values = ContiguousArray(row.values)
          for case (let slot, .expression(.constant(let value))) in newValues { values[slot] = value }
          changes.updated.append(
            .init(
              snapshot: Snapshot(id: row.id, version: row.version + 1, values: values),
              changedSlots: Array(newValues.keys), expectedVersion: nil))
        }
        try base.save(changes, author: request.author)
        return StoreBatchResult(objectIDs: ids, changes: SavedObjectIDs(updated: ids))
      }
    }
  }

  private func bench() throws -> (OwnStore, ManagedObjectContext) {
    let model = try People.model().resolved()
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = OwnStore(try InMemoryStore(model: model))
    try coordinator.add(store)
    return (store, try ManagedObjectContext(coordinator))
  }

  @Test func aStoreThatDoesItItselfIsAskedOnceAndItsChangesAreMerged() throws {
    let (store, context) = try bench()
    context.automaticallyMergesChangesFromParent = true
    context.transactionAuthor = "me"
    let people = try (0..<2).map { try context.insert("Person", values: ["age": .int(Int64($0))]) }
    try context.save()
    var update = BatchUpdateRequest("Person", set: ["age": 7])
    update.resultType = .objectIDs
    let result = try context.execute(update)
    #expect(result.count == 2 && result.objectIDs == people.map(\.objectID) && result.changes?.updated.count == 2)
    #expect(store.asked.withLock { $0.map(\.author) } == ["me"])
    try context.processPendingChanges()
    #expect(people.map { $0["age"] } == [7, 7])
    let other = try ManagedObjectContext(context.coordinator)
    #expect(try other.object(with: people[0].objectID)["age"] == 7)
    var deletion = BatchDeleteRequest(FetchRequest("Person"))
    deletion.resultType = .count
    #expect(try context.execute(deletion).count == 2)
    try context.processPendingChanges()
    #expect(people[0].managedObjectContext == nil && store.asked.withLock { $0.count } == 2)
    withExtendedLifetime(other) {}
  }

  @Test func aStoreMayLeaveItAndIsNotAskedForWhatItDoesNotSee() throws {
    let (store, context) = try bench()
    try context.execute(BatchInsertRequest("Person", objects: [["age": 1], ["age": 2]]))
    store.isWilling.withLock { $0 = false }
    try context.execute(BatchUpdateRequest("Person", set: ["firstName": "A"]))
    #expect(try context.count(FetchRequest("Person", where: "firstName == 'A'")) == 2)
    #expect(store.asked.withLock { $0.count } == 1)
    store.isWilling.withLock { $0 = true }
    // The store evaluates no predicates.
    try context.execute(BatchUpdateRequest("Person", where: try Predicate(format: "age == 1"), set: ["firstName": "B"]))
    #expect(try context.count(FetchRequest("Person", where: "firstName == 'B'")) == 1)
    // The store does not know the attributes that extensions derive.
    let domain = ExtensionRegistry()
    var entry = EntityExtension()
    entry.stored = [DerivedAttribute("lastName", ownInputs: ["firstName"]) { try $0.value(forKey: "firstName") }]
    domain.extensions["Person"] = [entry]
    try ManagedObjectContext(context.coordinator, extensionRegistry: domain).execute(
      BatchUpdateRequest("Person", set: ["firstName": "C"]))
    #expect(try context.count(FetchRequest("Person", where: "lastName == 'C'")) == 2)
    #expect(store.asked.withLock { $0.count } == 1)
  }
}
