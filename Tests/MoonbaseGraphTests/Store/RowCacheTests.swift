import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

@Suite struct RowCacheTests {
  private let id = ManagedObjectID(temporaryFor: Symbol("Thing"))

  private func row(_ version: Int64) -> Snapshot { Snapshot(id: id, version: version, values: []) }

  @Test func aReaderThatEndsAfterASaveBringsNoOlderVersion() {
    let cache = RowCache()
    let began = cache.now
    cache.insert([row(1)], readAt: began)
    cache.replace([row(2)])
    cache.insert([row(1)], readAt: began)
    cache.replace([row(1)])
    #expect(cache[id]?.version == 2)
  }

  @Test func aReaderThatEndsAfterADeletionBringsNothingBack() {
    let cache = RowCache()
    let began = cache.now
    cache.insert([row(1)], readAt: began)
    cache.remove([id])
    cache.insert([row(1)], readAt: began)
    #expect(cache[id] == nil)
    cache.insert([row(1)], readAt: cache.now)
    #expect(cache[id]?.version == 1)
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
}
