import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// Destroying and replacing whole stores, and their metadata while the stores are closed.
@Suite struct WholeStoreTests {
  private let folder: TemporaryFolder
  private let model: ResolvedModel

  init() throws {
    folder = try TemporaryFolder()
    var model = People.model()
    model.entities[0].attributes.append(
      AttributeDescription("photo", type: .binaryData).with { $0.allowsExternalBinaryDataStorage = true })
    self.model = try model.resolved()
  }

  /// Opens a store, lets `body` use it, and closes it.
  private func using<Result>(
    _ url: URL, _ body: (ManagedObjectContext, SQLiteStore) throws -> Result
  ) throws -> Result {
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = try SQLiteStore(url: url, model: model)
    try coordinator.add(store)
    let context = ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
    defer { try? coordinator.remove(store) }
    return try body(context, store)
  }

  private func make(_ name: String, _ people: ClosedRange<Int>) throws -> URL {
    let url = folder.file(name)
    try using(url) { context, store in
      for number in people {
        try context.insert(
          "Person",
          values: ["age": .int(Int64(number)), "photo": .data(Data(repeating: UInt8(number), count: 200_000))])
      }
      try context.save()
      try store.setMetadata(["colour": "red"])
    }
    return url
  }

  private func ages(_ url: URL) throws -> [Int64] {
    try using(url) { context, _ in
      try context.fetch(FetchRequest("Person")).map { person in
        let age = try person.value(forKey: "age").int ?? -1
        #expect(try person.value(forKey: "photo") == .data(Data(repeating: UInt8(age), count: 200_000)))
        return age
      }.sorted()
    }
  }

  private func values(_ name: String) -> Int {
    (try? FileManager.default.contentsOfDirectory(
      atPath: folder.file(".\(name)_SUPPORT/_EXTERNAL_DATA").path))?.count ?? 0
  }

  // MARK: Destroying

  @Test func aStoreGoesWithAllThatBelongsToIt() throws {
    let url = try make("a.sqlite", 1...3)
    let other = try make("b.sqlite", 1...2)
    #expect(values("a") == 3)
    try SQLiteStore.destroy(storeAt: url)
    #expect(try folder.contents().keys.allSatisfy { $0.hasPrefix("b") || $0 == ".b_SUPPORT" })
    // Nothing is left to destroy, and a new store can be created.
    try SQLiteStore.destroy(storeAt: url)
    #expect(try ages(url) == [] && ages(other) == [1, 2])
  }

  @Test func whatADeathLeftGoesToo() throws {
    let url = try make("a.sqlite", 1...3)
    unlink(url.path)
    try Data([1]).write(to: folder.file("a.sqlite-wal"))
    try SQLiteStore.destroy(storeAt: url)
    #expect(try folder.contents().isEmpty)
  }

  @Test func aFolderOfTwoStoresStays() throws {
    let (one, two) = (try make("a.sqlite", 1...3), try make("a.db", 4...5))
    #expect(values("a") == 5)
    try SQLiteStore.destroy(storeAt: one)
    #expect(values("a") == 2)
    #expect(try ages(two) == [4, 5])
  }

  @Test func whatIsOpenOrNoStoreIsNotDestroyed() throws {
    let url = try make("a.sqlite", 1...1)
    try using(url) { (context, _) throws -> Void in
      for refused in [url, folder.file("a.sqlite-wal")] {
        let error = #expect(throws: GraphError.self) { try SQLiteStore.destroy(storeAt: refused) }
        #expect(error?.code == .invalidRequest)
      }
      #expect(throws: GraphError.self) { try SQLiteStore.replace(storeAt: url, withStoreFrom: folder.file("b.sqlite")) }
      #expect(try context.count(FetchRequest("Person")) == 1)
    }
    // SQLite lets another connection, as of another process, read in the meantime.
    let reader = try Connection(url.path, mode: .readWrite)
    try reader.beginReading()
    _ = try reader.integer("SELECT COUNT(*) FROM ZPERSON")
    let busy = #expect(throws: GraphError.self) { try SQLiteStore.destroy(storeAt: url) }
    #expect(busy?.code == .storeBusy)
    reader.endReading()
    let database = folder.file("plain.db")
    try Connection(database.path).executeScript("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    let text = folder.file("text.sqlite")
    try Data("no database at all, but long enough to be taken for one by who looks at sizes only ............".utf8)
      .write(to: text)
    for refused in [database, text, folder.url] {
      let before = try folder.contents().count
      #expect(throws: GraphError.self) { try SQLiteStore.destroy(storeAt: refused) }
      #expect(throws: GraphError.self) { try SQLiteStore.replace(storeAt: refused, withStoreFrom: url) }
      #expect(throws: GraphError.self) {
        try SQLiteStore.replace(storeAt: folder.file("c.sqlite"), withStoreFrom: refused)
      }
      #expect(try folder.contents().count == before)
    }
    #expect(try ages(url) == [1])
  }

  // MARK: Replacing

  @Test(arguments: [true, false]) func aCopyTakesThePlaceOfAStore(_ isThere: Bool) throws {
    let source = try make("a.sqlite", 1...3)
    let url = isThere ? try make("b.sqlite", 4...8) : folder.file("b.sqlite")
    try SQLiteStore.replace(storeAt: url, withStoreFrom: source)
    #expect(try ages(url) == [1, 2, 3] && ages(source) == [1, 2, 3])
    #expect(values("b") == 3 && values("a") == 3)
    #expect(try !folder.contents().keys.contains { $0.hasSuffix(".replacement") })
    let metadata = try SQLiteStore.metadata(ofStoreAt: url)
    #expect(try metadata == SQLiteStore.metadata(ofStoreAt: source) && metadata["colour"] == "red")
    // Both stores are independent.
    try using(url) { context, _ in
      for person in try context.fetch(FetchRequest("Person")) { try context.delete(person) }
      try context.save()
    }
    #expect(try ages(source) == [1, 2, 3] && ages(url) == [])
  }

  @Test func whatADeathLeftBesideAStoreGoesAfterAnHour() throws {
    let (source, url) = (try make("a.sqlite", 1...2), try make("b.sqlite", 4...5))
    let (old, new) = ("b.sqlite-1.replacement", "b.sqlite-2.replacement")
    for name in [old, new] { try Data([1]).write(to: folder.file(name)) }
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -7200)], ofItemAtPath: folder.file(old).path)
    try SQLiteStore.replace(storeAt: url, withStoreFrom: source)
    let names = try folder.contents().keys
    #expect(!names.contains(old) && names.contains(new))
    #expect(try ages(url) == [1, 2])
  }

  @Test func aStoreThatIsOpenCanBeCopied() throws {
    let source = try make("a.sqlite", 1...2)
    let url = folder.file("b.sqlite")
    try using(source) { context, _ in
      try context.insert("Person", values: ["age": 3, "photo": .data(Data(repeating: 3, count: 200_000))])
      try context.save()
      try SQLiteStore.replace(storeAt: url, withStoreFrom: source)
      try context.insert("Person")
      try context.save()
    }
    #expect(try ages(url) == [1, 2, 3])
  }

  @Test func whatCannotBeReplacedStays() throws {
    let url = try make("b.sqlite", 4...5)
    #expect(throws: GraphError.self) {
      try SQLiteStore.replace(storeAt: url, withStoreFrom: folder.file("none.sqlite"))
    }
    #expect(throws: GraphError.self) { try SQLiteStore.replace(storeAt: url, withStoreFrom: url) }
    // An external value of the source is missing.
    let source = try make("a.sqlite", 1...2)
    let values = folder.file(".a_SUPPORT/_EXTERNAL_DATA")
    let name = try #require(FileManager.default.contentsOfDirectory(atPath: values.path).first)
    try FileManager.default.removeItem(at: values.appendingPathComponent(name))
    #expect(throws: GraphError.self) { try SQLiteStore.replace(storeAt: url, withStoreFrom: source) }
    #expect(try ages(url) == [4, 5])
    #expect(try !folder.contents().keys.contains { $0.hasSuffix(".replacement") })
  }

  // MARK: Metadata

  @Test func metadataAreSetWithoutOpeningTheStore() throws {
    let url = try make("a.sqlite", 1...1)
    let before = try SQLiteStore.metadata(ofStoreAt: url)
    try SQLiteStore.setMetadata(["size": 3, "NSStoreUUID": "x"], ofStoreAt: url)
    let metadata = try SQLiteStore.metadata(ofStoreAt: url)
    #expect(metadata["size"] == 3 && metadata["colour"] == nil && metadata["NSStoreUUID"] == before["NSStoreUUID"])
    #expect(try ages(url) == [1])
    #expect(throws: GraphError.self) { try SQLiteStore.setMetadata(["a": .null], ofStoreAt: url) }
    #expect(throws: GraphError.self) { try SQLiteStore.setMetadata([:], ofStoreAt: folder.file("none.sqlite")) }
    #expect(try SQLiteStore.metadata(ofStoreAt: url)["size"] == 3)
  }
}
