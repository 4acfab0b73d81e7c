import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Walks over read-only stores, which cannot hold a read view: rows are read page by page, by keys collected at the
/// beginning.
@Suite struct ReadOnlyWalkTests {
  private static let count = 2000
  private let folder: TemporaryFolder
  private let context: ManagedObjectContext

  init() throws {
    folder = try TemporaryFolder()
    let model = try ManagedObjectModel {
      EntityDescription("Person") {
        AttributeDescription("name", type: .string)
        AttributeDescription("age", type: .integer64)
      }
    }.resolved()
    let writing = PersistentStoreCoordinator(model: model)
    let store = try SQLiteStore(url: folder.file(), model: model)
    try writing.add(store)
    let writer = ManagedObjectContext(writing, extensionRegistry: ExtensionRegistry())
    for age in (0..<Self.count).reversed() {
      _ = try writer.insert("Person", values: ["name": .string("before"), "age": .int(Int64(age))])
    }
    try writer.save()
    try writing.remove(store)
    let reading = PersistentStoreCoordinator(model: model)
    try reading.add(SQLiteStore(url: folder.file(), model: model, options: .init(readOnly: true)))
    context = ManagedObjectContext(reading, extensionRegistry: ExtensionRegistry())
  }

  /// Another process's changes during a walk: the youngest person is renamed, the previous one is deleted, and a person
  /// is inserted.
  private func writeMeanwhile() throws {
    try RawDatabase(folder.file()).connection.executeScript(
      "UPDATE ZPERSON SET ZNAME = 'after' WHERE ZAGE = 0; DELETE FROM ZPERSON WHERE ZAGE = 1; "
        + "INSERT INTO ZPERSON (Z_ENT, Z_OPT, ZNAME, ZAGE) SELECT Z_ENT, 1, 'new', -1 FROM ZPERSON LIMIT 1")
  }

  private func request(batchSize: Int = 0) -> FetchRequest {
    var request = FetchRequest("Person")
    request.sortDescriptors = [SortDescriptor("age", ascending: false)]
    request.fetchBatchSize = batchSize
    return request
  }

  @Test(arguments: [0, 100]) func aWalkKeepsItsOrderAndReadsRowsAsTheyAreThen(_ batchSize: Int) throws {
    let found = try context.fetchedObjects(request(batchSize: batchSize))
    var ages: [Int64] = []
    var youngest: ManagedObject?
    for place in 0..<Self.count {
      if place == 1 { try writeMeanwhile() }
      guard let object = try found.existingObject(at: place) else { continue }
      ages.append(try object.value(forKey: "age").int ?? -7)
      youngest = object
    }
    #expect(ages == (0..<Int64(Self.count)).reversed().filter { $0 != 1 })
    #expect(try youngest?.value(forKey: "name") == .string("after"))
    #expect(found.count == Self.count)
  }

  @Test func aResultOfOnePageIsOfOneState() throws {
    var request = request()
    request.fetchOffset = Self.count - 100
    request.fetchLimit = 100
    let found = try context.fetchedObjects(request)
    try writeMeanwhile()
    #expect(try found.existingObject(at: 99)?.value(forKey: "name") == .string("before"))
    #expect(try found.existingObject(at: 98) != nil && found.count == 100)
  }

  @Test func rowsOfWhichTheContextJudgesAreReadPageByPage() throws {
    var request = try FetchRequest("Person", where: "TERNARY(age >= 0, 1, 0) == 1")
    request.propertiesToFetch = [FetchColumn("age"), FetchColumn("name")]
    var rows: [[String: Value]] = []
    for row in try context.fetchedDictionaries(request) {
      if rows.isEmpty { try writeMeanwhile() }
      rows.append(row)
    }
    #expect(rows.count == Self.count - 1)
    #expect(rows.first { $0["age"] == .int(0) }?["name"] == .string("after"))
  }
}
