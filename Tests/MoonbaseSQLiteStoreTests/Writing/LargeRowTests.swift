import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// Rows with megabytes of text and data: SQLite gets no copy of them, and few are in memory at once.
@Suite struct LargeRowTests {
  private static let model = ManagedObjectModel {
    EntityDescription("P") {
      AttributeDescription("text", type: .string)
      AttributeDescription("other", type: .string)
      AttributeDescription("bytes", type: .binaryData)
      AttributeDescription("code", type: .string)
    }.with { $0.uniquenessConstraints = [["code"]] }
  }

  private func context(_ store: SQLiteStore) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: store.layout.model)
    try coordinator.add(store)
    return try ManagedObjectContext(coordinator)
  }

  private func text(_ letter: String, _ count: Int) -> Value { .string(String(repeating: letter, count: count)) }

  @Test func longValuesAreSavedAsTheyAre() throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(url: folder.file(), model: Self.model.resolved())
    let context = try context(store)
    let values: [[String: Value]] = [
      ["text": text("ä", 200_000), "other": text("b", 70_000), "bytes": .data(Data(repeating: 7, count: 80_000))],
      ["text": "short", "other": text("c", 65_536), "bytes": .data(Data([1, 2])), "code": "x"],
      ["text": text("d", 65_535)],
    ]
    let objects = try values.map { try context.insert("P", values: $0) }
    try context.save()
    try objects[1].setValue(text("e", 100_000), forKey: "text")
    try objects[0].setValue(.null, forKey: "other")
    try context.save()
    // A save that the file refuses, and the next save.
    let other = try self.context(store)
    try other.insert("P", values: ["text": text("f", 90_000), "code": "x"])
    #expect(throws: GraphError.self) { try other.save() }
    try other.rollback()
    try other.insert("P", values: ["other": text("g", 90_000)])
    try other.save()
    let again = try self.context(store)
    func saved(_ index: Int, _ key: String) throws -> Value {
      try again.object(with: objects[index].objectID).value(forKey: key)
    }
    #expect(try saved(0, "text") == values[0]["text"] && saved(0, "other") == .null)
    #expect(try saved(0, "bytes") == values[0]["bytes"] && saved(1, "text") == text("e", 100_000))
    #expect(try saved(1, "other") == values[1]["other"] && saved(2, "text") == values[2]["text"])
    let request = try FetchRequest("P", where: "other BEGINSWITH 'g'")
    #expect(try again.fetch(request).map { try $0.value(forKey: "text") } == [.null])
  }

  @Test(arguments: [false, true]) func aWalkOverLargeRowsHoldsFewOfThem(_ isLimited: Bool) throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore(url: folder.file(), model: Self.model.resolved())
    let context = try context(store)
    for index in 0..<24 { try context.insert("P", values: ["text": text("\(index % 10)", 1 << 20)]) }
    try context.save()
    let reader = try self.context(store)
    var request = FetchRequest("P")
    if isLimited { request.fetchLimit = 20 }
    let found = try reader.fetchedObjects(request)
    var (count, heaviest) = (0, found.weight)
    for object in found {
      count += try object.value(forKey: "text").string?.utf8.count ?? 0
      heaviest = max(heaviest, found.weight, reader.objectWeight)
    }
    #expect(count == (isLimited ? 20 : 24) << 20)
    #expect(heaviest < 20 << 20, "\(heaviest)")
  }

  @Test func aBatchOfAMigrationIsAsHeavyAsItsObjects() {
    var count = 16
    for _ in 0..<4 { count = MigrationManager.nextBatch(after: count, weight: 1 << 10) }
    #expect(count == 512)
    for _ in 0..<12 { count = MigrationManager.nextBatch(after: count, weight: 1 << 30) }
    #expect(count == 1 && MigrationManager.nextBatch(after: 8, weight: 10 << 20) == 8)
  }
}
