import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// A store used by several threads.
@Suite struct StoreConcurrencyTests {
  @Test func readersSeeWholeSavesWhileAWriterSaves() async throws {
    let people = try PeopleStore()
    let (store, entity, model) = (people.store, people.entity("Person"), people.model)
    let query = StoreQuery(entity: entity, in: model)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for _ in 0..<30 {
          let first = try store.reserveKeys(for: entity, count: 10)
          var changes = StoreChanges()
          for offset in 0..<10 {
            let id = ManagedObjectID(
              store: StoreNumber(store.identifier), entity: entity.symbol, key: first + Int64(offset))
            changes.inserted.append(Snapshot(id: id, version: 1, values: entity.initialValues))
          }
          try store.save(changes)
        }
      }
      for _ in 0..<3 {
        group.addTask {
          var last = 0
          for _ in 0..<40 {
            let rows = try store.snapshots(matching: query)
            #expect(rows.count % 10 == 0)
            #expect(rows.count >= last)
            last = rows.count
            let ids = rows.map(\.id)
            #expect(try store.snapshots(of: ids).count == ids.count)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.count(matching: query) == 300)
  }

  @Test func writersOnOneFileTakeTurnsAndLoseNothing() async throws {
    let people = try PeopleStore()
    let id = try people.insert(people.row("Person", ["age": 0]))[0]
    let other = try SQLiteStore(url: people.folder.file(), model: people.model)
    let entity = people.entity("Person")
    let age = entity.slot("age")!
    try await withThrowingTaskGroup(of: Void.self) { group in
      for store in [people.store, other] {
        group.addTask {
          var done = 0
          while done < 25 {
            let row = try store.snapshot(of: id)!
            guard case .int(let value) = row.values[age] else { return }
            var values = ContiguousArray(row.values)
            values[age] = .int(value + 1)
            var changes = StoreChanges()
            changes.updated = [
              .init(
                snapshot: Snapshot(id: id, version: row.version + 1, values: values), changedSlots: [age],
                expectedVersion: row.version)
            ]
            do {
              try store.save(changes)
              done += 1
            } catch let error as GraphError where error.code == .mergeConflict {
              continue
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try people.value(id, "age") == 50)
    #expect(try people.store.snapshot(of: id)?.version == 51)
  }
}
