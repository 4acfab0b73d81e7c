import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

@Suite struct RowCacheTests {
  private let id = ManagedObjectID(temporaryFor: Symbol("Thing"))

  private func row(_ version: Int64) -> Snapshot { Snapshot(id: id, version: version, values: []) }

  @Test func aReaderThatEndsAfterASaveBringsNoOlderVersion() {
    let cache = RowCache()
    _ = cache.reading { [row(1)] }
    _ = cache.reading {
      cache.write([row(2)])
      return [row(1)]
    }
    cache.replace([row(1)])
    #expect(cache[id]?.version == 2)
  }

  @Test func aReaderThatBeganBeforeASaveBringsNoOlderVersionWhereNoneWasHere() {
    let cache = RowCache()
    _ = cache.reading {
      cache.write([row(2)])
      return [row(1)]
    }
    #expect(cache[id] == nil)
    _ = cache.reading { [row(2)] }
    #expect(cache[id]?.version == 2)
  }

  @Test func aReaderThatFailsKeepsNothingBack() {
    let cache = RowCache()
    #expect(throws: GraphError.self) {
      _ = try cache.reading {
        cache.remove([id])
        throw GraphError(.objectNotFound, message: "gone")
      }
    }
    _ = cache.reading { [row(1)] }
    #expect(cache[id]?.version == 1)
  }

  @Test func aReaderThatEndsAfterADeletionBringsNothingBack() {
    let cache = RowCache()
    _ = cache.reading { [row(1)] }
    _ = cache.reading {
      cache.remove([id])
      return [row(1)]
    }
    #expect(cache[id] == nil)
    _ = cache.reading { [row(1)] }
    #expect(cache[id]?.version == 1)
  }

  /// A few rows from many pages do not keep the pages alive.
  @Test func fewRowsOfASaveGetAPageOfTheirOwn() throws {
    let cache = RowCache()
    let builder = RowPageBuilder(StoreNumber(rawValue: 1), entity: Symbol("Thing"), slotCount: 1, capacity: 512)
    for key in 1...512 { builder.addRow(key: Int64(key), version: 2, values: [.string("row \(key)")]) }
    let page = builder.finish()
    let old = ManagedObjectID(store: .init(rawValue: 1), entity: Symbol("Thing"), key: 7)
    _ = cache.reading { [Snapshot(id: old, version: 1, values: [.string("old")])] }
    cache.write(RowBatch((0..<512).map { Snapshot(page, at: $0) }))
    let kept = try #require(cache[old])
    #expect(kept.values[0] == .string("row 7"))
    #expect(kept.version == 2)
    #expect(kept.page.count == 1)
    #expect(cache[ManagedObjectID(store: .init(rawValue: 1), entity: Symbol("Thing"), key: 8)] == nil)
  }

  @Test(arguments: StoreKind.allCases) func aFaultTakesNoOlderRowThanItHas(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
    let first = try ManagedObjectContext(coordinator)
    let department = try first.insert("Department", values: ["name": "old"])
    try first.save()
    let old = try #require(department.snapshot)
    department["name"] = "new"
    try first.save()
    let context = try ManagedObjectContext(coordinator)
    let same = try context.object(for: #require(department.snapshot))
    _ = try context.object(for: old)
    #expect(same["name"] == "new")
  }

  /// A row moves to the old generation once the young one is full.
  @Test(arguments: [0, 1, 5]) func aRowThatIsTakenOutIsGoneHoweverLongItWasNotUsed(_ others: Int) {
    for isReread in [false, true] {
      let cache = RowCache(capacity: 2)
      _ = cache.reading { [row(1)] }
      for _ in 0..<others {
        let other = ManagedObjectID(temporaryFor: Symbol("Thing"))
        _ = cache.reading { [Snapshot(id: other, version: 1, values: [])] }
      }
      // Reading a row of the old generation copies it to the young one.
      if isReread { _ = cache[id] }
      cache.remove([id])
      #expect(cache[id] == nil && cache.unwritten(id) == nil, "\(isReread)")
    }
  }
}
