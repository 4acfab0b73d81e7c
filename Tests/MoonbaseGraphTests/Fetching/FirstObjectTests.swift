import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

import enum MoonbaseModel.Predicate

/// Fetching a few objects among many reads only these.
@Suite struct FirstObjectTests {
  private func context(_ bench: StoreBench, count: Int) throws -> (ManagedObjectContext, [ManagedObjectID]) {
    let context = bench.context()
    let people = try (0..<count).map { try context.insert("Person", values: ["firstName": .string("p\($0)")]) }
    try context.save()
    return (bench.context(), people.map(\.objectID))
  }

  /// The in-memory store returns rows in the order of their keys, after any insertions and deletions.
  @Test(arguments: 1...3) func aStoreInMemoryGivesRowsByTheirKeys(_ seed: UInt64) throws {
    let bench = try StoreBench(.memory)
    let store = try #require(bench.coordinator.persistentStores.first as? InMemoryStore)
    let context = bench.context()
    var random = SplitMix(seed)
    var known: Set<ManagedObjectID> = []
    for _ in 0..<150 {
      var objects: [ManagedObject] = []
      for _ in 0..<random.next(5) { objects.append(try context.insert(random.next(2) == 0 ? "Employee" : "Person")) }
      for id in known where random.next(8) == 0 {
        try context.delete(context.object(with: id))
        known.remove(id)
      }
      try context.save()
      known.formUnion(objects.map(\.objectID))
      let expected = known.sorted { $0.key < $1.key }
      #expect(try context.fetchIDs(FetchRequest("Person")) == expected)
      var request = FetchRequest("Person")
      (request.fetchOffset, request.fetchLimit) = (random.next(6), 1 + random.next(6))
      let window = Array(expected.dropFirst(request.fetchOffset).prefix(request.fetchLimit))
      #expect(try context.fetch(request).map(\.objectID) == window)
      request.includesSubentities = false
      let own = expected.filter { $0.entityName == "Person" }
      #expect(
        try context.fetchIDs(request) == Array(own.dropFirst(request.fetchOffset).prefix(request.fetchLimit)))
      let session = try store.beginReading()
      let cursor = try session.rows(
        matching: StoreQuery(entity: #require(context.model.entity("Person")), in: context.model))
      var walked: [ManagedObjectID] = []
      while case let page = try cursor.next(upTo: 3), !page.isEmpty { walked += page.map(\.id) }
      #expect(walked == expected)
    }
  }

  /// Keys are assigned in turn but saved in any order, and deleted keys may return.
  @Test func keysMayComeInAnyOrder() throws {
    let bench = try StoreBench(.memory)
    let store = bench.coordinator.persistentStores[0]
    let entity = try #require(bench.coordinator.model.entity("Person"))
    let first = try store.reserveKeys(for: entity, count: 40)
    func row(_ key: Int64) -> Snapshot {
      Snapshot(id: store.objectID(for: entity, key: first + key), version: 1, values: entity.initialValues)
    }
    func save(_ inserted: [Int64], deleted: [Int64] = []) throws {
      var changes = StoreChanges()
      changes.inserted = RowBatch(inserted.map(row))
      changes.deleted = deleted.map { .init(id: row($0).id, expectedVersion: nil) }
      try store.save(changes)
    }
    let query = StoreQuery(entity: entity, in: bench.coordinator.model)
    func keys() throws -> [Int64] { try store.objectIDs(matching: query).map { $0.key - first } }
    try save([30, 10, 20])
    try save([15, 35, 5])
    #expect(try keys() == [5, 10, 15, 20, 30, 35])
    try save([], deleted: [5, 10, 20])
    try save([20, 1])
    try save([10])
    #expect(try keys() == [1, 10, 15, 20, 30, 35])
    try save([], deleted: [1, 10, 15, 20, 30, 35])
    #expect(try keys() == [])
    try save([2])
    #expect(try keys() == [2])
  }

  @Test func theFirstObjectsOfAStoreInMemoryCostNoWalkOverAll() throws {
    let bench = try StoreBench(.memory)
    let (context, ids) = try context(bench, count: 5000)
    var first = FetchRequest("Person")
    first.fetchLimit = 1
    let units = try HostWorkMeter.units {
      #expect(try context.fetchIDs(first) == [ids[0]])
      #expect(try context.fetch(first).map(\.objectID) == [ids[0]])
      first.predicate = try Predicate(format: "firstName ENDSWITH '3'")
      #expect(try context.fetchIDs(first) == [ids[3]])
      #expect(try context.fetch(first).map(\.objectID) == [ids[3]])
    }
    #expect(units < 5000, "\(units)")
  }

  @Test(arguments: StoreKind.allCases) func ofTheDeletedOnesBeforeAWindowFewRowsAreRead(_ kind: StoreKind) throws {
    var store: CountingStore?
    let bench = try StoreBench(kind) {
      let new = CountingStore($0)
      store = new
      return new
    }
    let (context, ids) = try context(bench, count: 700)
    for id in ids.prefix(600) { try context.delete(context.object(with: id)) }
    var request = FetchRequest("Person")
    request.fetchLimit = 3
    try context.processPendingChanges()
    let before = store?.rowCount.withLock { $0 } ?? 0
    #expect(try context.fetch(request).map(\.objectID) == Array(ids[600..<603]))
    let read = (store?.rowCount.withLock { $0 } ?? 0) - before
    #expect((3...40).contains(read), "\(read)")
  }

  @Test(arguments: StoreKind.withFolder)
  func behindManyDeletedObjectsNoRowsOfTheseAreRead(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, ids) = try context(bench, count: 700)
    for id in ids.prefix(600) { try context.delete(context.object(with: id)) }
    var request = FetchRequest("Person")
    for (offset, limit) in [(0, 1), (0, 60), (7, 20), (95, 10), (100, 5)] {
      (request.fetchOffset, request.fetchLimit) = (offset, limit)
      let expected = Array(ids.dropFirst(600 + offset).prefix(limit))
      #expect(try context.fetch(request).map(\.objectID) == expected)
      #expect(try context.fetchedObjects(request).map(\.objectID) == expected)
      #expect(try context.fetchIDs(request) == expected)
    }
  }
}

/// A store that counts the rows it returns.
private final class CountingStore: PersistentStore {
  let base: any PersistentStore
  let rowCount = Lock(0)

  init(_ base: any PersistentStore) { self.base = base }

  var identifier: String { base.identifier }
  var type: String { base.type }
  var url: URL? { base.url }
  var isReadOnly: Bool { base.isReadOnly }
  var entities: [ResolvedEntity] { base.entities }
  func metadata() throws -> [String: Value] { try base.metadata() }
  func plan(_ query: StoreQuery) throws -> QueryPlan { try base.plan(query) }
  func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64 {
    try base.reserveKeys(for: entity, count: count)
  }
  func beginSave(author: String?) throws -> any SaveSession { try base.beginSave(author: author) }
  func beginReading(_ extent: ReadScope) throws -> any ReadSession {
    CountingSession(try base.beginReading(extent), rowCount: { [rowCount] count in rowCount.withLock { $0 += count } })
  }
}

private final class CountingSession: ReadSession {
  private let base: any ReadSession
  private let count: @Sendable (Int) -> Void

  init(_ base: any ReadSession, rowCount: @escaping @Sendable (Int) -> Void) { (self.base, count) = (base, rowCount) }

  private func counted(_ rows: [Snapshot]) -> [Snapshot] {
    count(rows.count)
    return rows
  }

  var canBeHeldOpen: Bool { base.canBeHeldOpen }
  func rows(matching query: StoreQuery) throws -> any RowCursor { RowList(try snapshots(matching: query)) }
  func snapshots(matching query: StoreQuery) throws -> [Snapshot] { counted(try base.snapshots(matching: query)) }
  func ids(matching query: StoreQuery) throws -> any IDCursor { try base.ids(matching: query) }
  func values(matching query: StoreQuery) throws -> any RowCursor { try base.values(matching: query) }
  func count(matching query: StoreQuery) throws -> Int { try base.count(matching: query) }
  func snapshot(of id: ManagedObjectID) throws -> Snapshot? {
    count(1)
    return try base.snapshot(of: id)
  }
  func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot] { counted(try base.snapshots(of: ids)) }
  func destinations(of id: ManagedObjectID, relationship slot: Slot) throws -> [ManagedObjectID] {
    try base.destinations(of: id, relationship: slot)
  }
  func end() { base.end() }
}
