import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Save sessions of a store.
@Suite struct SaveSessionTests {
  private struct Bench {
    let bench: StoreBench
    let store: any PersistentStore
    let entity: ResolvedEntity
    let (ada, bob): (ManagedObjectID, ManagedObjectID)

    init(_ kind: StoreKind) throws {
      bench = try StoreBench(kind)
      store = bench.coordinator.persistentStores[0]
      let context = bench.context()
      let people = try ["ada", "bob"].map { try context.insert("Person", values: ["email": .string($0), "age": 1]) }
      try context.save()
      (ada, bob) = (people[0].objectID, people[1].objectID)
      entity = people[0].entity
    }

    /// A change of a row, given the version that was read.
    func update(_ id: ManagedObjectID, _ key: String, _ value: Value, version: Int64 = 1) throws -> StoreChanges {
      let slot = try #require(entity.slot(key))
      var values = Array(try #require(try store.snapshot(of: id)).values)
      values[slot] = value
      var changes = StoreChanges()
      changes.updated = [
        .init(
          snapshot: Snapshot(id: id, version: version + 1, values: values), changedSlots: [slot],
          expectedVersion: version)
      ]
      return changes
    }

    func age(_ id: ManagedObjectID) throws -> Value? {
      try store.snapshot(of: id).map { $0.values[entity.slot("age")!] }
    }

    func deletion(_ id: ManagedObjectID, version: Int64) -> StoreChanges {
      var changes = StoreChanges()
      changes.deleted = [.init(id: id, expectedVersion: version)]
      return changes
    }
  }

  @Test(arguments: StoreKind.withFolder) func conflictsAreValuesWithTheRowThatWasFound(_ kind: StoreKind) throws {
    let bench = try Bench(kind)
    try bench.store.save(bench.update(bench.ada, "age", 2))
    var changes = try bench.update(bench.ada, "age", 3)
    changes.updated += try bench.update(bench.bob, "age", 3).updated
    let session = try bench.store.beginSave(author: nil)
    let conflicts = try session.write(changes)
    session.abort()
    #expect(conflicts.map(\.objectID) == [bench.ada])
    #expect(conflicts.map(\.kind) == [.changed(expected: 1, found: 2)])
    #expect(conflicts[0].foundRow?.version == 2)
    #expect(conflicts[0].foundRow?.values[bench.entity.slot("age")!] == 2)
    #expect(try bench.age(bench.ada) == 2 && bench.age(bench.bob) == 1)
    let error = #expect(throws: GraphError.self) { try bench.store.save(changes) }
    #expect(error?.code == .mergeConflict && error?.objectID == bench.ada)
  }

  @Test(arguments: StoreKind.withFolder) func rowsThatAreGoneAndValuesThatAreTakenAreConflicts(_ kind: StoreKind) throws
  {
    let bench = try Bench(kind)
    func conflicts(_ changes: StoreChanges) throws -> [SaveConflict] {
      let session = try bench.store.beginSave(author: nil)
      defer { session.abort() }
      return try session.write(changes)
    }
    let taken = try conflicts(bench.update(bench.bob, "email", "ada"))
    #expect(taken.map(\.objectID) == [bench.bob])
    #expect(taken.map(\.kind) == [.sameValues(properties: ["email"], as: bench.ada)])
    let error = #expect(throws: GraphError.self) { try bench.store.save(bench.update(bench.bob, "email", "ada")) }
    #expect(error?.code == .constraintConflict && error?.property == "email")
    let late = try bench.update(bench.ada, "age", 2)
    try bench.store.save(bench.deletion(bench.ada, version: 1))
    #expect(try conflicts(late).map(\.kind) == [.deleted])
    #expect(try conflicts(bench.deletion(bench.ada, version: 1)).map(\.kind) == [.deleted])
    #expect(try conflicts(bench.update(bench.bob, "email", "ada")).isEmpty)
    #expect(try conflicts(bench.deletion(bench.bob, version: 7)).map(\.kind) == [.changed(expected: 7, found: 1)])
    #expect(try bench.age(bench.bob) == 1)
  }

  @Test(arguments: StoreKind.withFolder) func whatIsNotCommittedLeavesNothing(_ kind: StoreKind) throws {
    let bench = try Bench(kind)
    for isAborted in [true, false] {
      var session: (any SaveSession)? = try bench.store.beginSave(author: nil)
      #expect(try session?.write(bench.update(bench.ada, "email", "new")).isEmpty == true)
      try session?.setMetadata(["mark": 1])
      try session?.prepare()
      if isAborted { session?.abort() }
      session = nil
    }
    #expect(try bench.store.metadata()["mark"] == nil)
    // The value is free, the row is unchanged, and the store still saves.
    try bench.store.save(bench.update(bench.bob, "email", "new"))
    try bench.store.save(bench.update(bench.ada, "age", 5))
    #expect(try bench.age(bench.ada) == 5)
  }

  @Test(arguments: StoreKind.withFolder) func metadataGoesWithTheCommit(_ kind: StoreKind) throws {
    let bench = try Bench(kind)
    let changes = try bench.update(bench.ada, "age", 2)
    let session = try bench.store.beginSave(author: nil)
    #expect(try session.write(changes).isEmpty)
    try session.setMetadata(["mark": 1])
    try session.prepare()
    try session.commit()
    // Ending a session twice has no effect.
    session.abort()
    #expect(try bench.store.metadata()["mark"] == 1 && bench.age(bench.ada) == 2)
  }
}
