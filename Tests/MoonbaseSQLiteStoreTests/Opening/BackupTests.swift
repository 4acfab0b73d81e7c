import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// Backups of stores that are in use.
@Suite struct BackupTests {
  private let folder: TemporaryFolder
  private let model: ResolvedModel

  init() throws {
    folder = try TemporaryFolder()
    var model = People.model()
    model.entities[0].attributes.append(
      AttributeDescription("photo", type: .binaryData).with { $0.allowsExternalBinaryDataStorage = true })
    self.model = try model.resolved()
  }

  private func open(_ name: String) throws -> (ManagedObjectContext, SQLiteStore) {
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = try SQLiteStore(url: folder.file(name), model: model)
    try coordinator.add(store)
    return (ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry()), store)
  }

  private func insert(_ ages: some Sequence<Int>, photo: Int = 0, in context: ManagedObjectContext) throws {
    for age in ages {
      var values: [String: Value] = ["age": .int(Int64(age % 100 + 1))]
      if photo > 0 { values["photo"] = .data(Data(repeating: UInt8(age % 100 + 1), count: photo)) }
      try context.insert("Person", values: values)
    }
    try context.save()
  }

  /// The contents of the files, without the shared memory of the log, in which readers record their positions.
  private func files() throws -> [String: Data] { try folder.contents().filter { !$0.key.hasSuffix("-shm") } }

  @Test func whatIsInTheLogAndInFilesIsInTheCopy() throws {
    let (context, store) = try open("a.sqlite")
    try insert(1...3, photo: 200_000, in: context)
    #expect(FileManager.default.fileExists(atPath: folder.file("a.sqlite-wal").path))
    try store.backUp(to: folder.file("b.sqlite"))
    // Later saves are not in the copy, and the original remains usable.
    try insert(4...4, in: context)
    let (copy, other) = try open("b.sqlite")
    let people = try copy.fetch(FetchRequest("Person"))
    #expect(try people.map { try $0.value(forKey: "age").int }.sorted { ($0 ?? 0) < ($1 ?? 0) } == [2, 3, 4])
    for person in people {
      let age = try #require(try person.value(forKey: "age").int)
      #expect(try person.value(forKey: "photo") == .data(Data(repeating: UInt8(age), count: 200_000)))
    }
    #expect(other.identifier == store.identifier)
    let check = try Connection(folder.file("b.sqlite").path, mode: .readOnly).text("PRAGMA integrity_check")
    #expect(check == "ok")
  }

  @Test func theCopyIsOneStateWhateverIsSavedMeanwhile() throws {
    let (context, store) = try open("a.sqlite")
    try insert(1...3000, in: context)
    let other = ManagedObjectContext(context.coordinator, extensionRegistry: ExtensionRegistry())
    var told: [BackupProgress] = []
    try store.backUp(to: folder.file("b.sqlite")) { progress in
      told.append(progress)
      // Each save keeps the sum of all ages, so a mixture of states would have another sum.
      for person in try other.fetch(FetchRequest("Person")).prefix(2).enumerated() {
        let age = try #require(try person.element.value(forKey: "age").int)
        try person.element.setValue(.int(age + (person.offset == 0 ? 1 : -1)), forKey: "age")
      }
      try other.save()
    }
    #expect(told.last.map { $0.completedPageCount == $0.totalPageCount } == true)
    let sum = try Connection(folder.file("b.sqlite").path, mode: .readOnly).integer("SELECT SUM(ZAGE) FROM ZPERSON")
    #expect(sum == 151_500)
  }

  @Test func whatIsThereAlreadyStaysUnlessItMayGo() throws {
    let (context, store) = try open("a.sqlite")
    try insert(1...2, in: context)
    try Data("text".utf8).write(to: folder.file("text"))
    try Data().write(to: folder.file("empty"))
    do {
      let (other, _) = try open("b.sqlite")
      try insert(5...9, photo: 200_000, in: other)
    }
    let before = try files()
    for name in ["text", "empty", "b.sqlite", "a.sqlite", "a.sqlite-wal"] {
      #expect(throws: GraphError.self) { try store.backUp(to: folder.file(name)) }
    }
    // A file that is no store is refused whatever the options.
    #expect(throws: GraphError.self) { try store.backUp(to: folder.file("text"), replacing: true) }
    #expect(try files() == before)
    try store.backUp(to: folder.file("b.sqlite"), replacing: true)
    let (copy, _) = try open("b.sqlite")
    #expect(try copy.count(FetchRequest("Person")) == 2)
  }

  @Test func aBackupThatEndsEarlyLeavesNothing() throws {
    struct Enough: Error {}
    let (context, store) = try open("a.sqlite")
    try insert(1...100, photo: 200_000, in: context)
    let before = try files()
    var count = 0
    #expect(throws: Enough.self) {
      try store.backUp(to: folder.file("b.sqlite")) { _ in
        count += 1
        throw Enough()
      }
    }
    #expect(count == 1)
    #expect(try files() == before)
    #expect(throws: GraphError.self) { try store.backUp(to: folder.file("nowhere/b.sqlite")) }
    #expect(throws: GraphError.self) {
      try SQLiteStore.backUp(storeAt: folder.file("none.sqlite"), to: folder.file("b.sqlite"))
    }
    #expect(try files() == before)
  }

  @Test func aFileInRollbackModeIsCopiedAsItIs() throws {
    do {
      let (context, _) = try open("a.sqlite")
      try insert(1...2, in: context)
    }
    try Connection(folder.file("a.sqlite").path).execute("PRAGMA journal_mode = DELETE")
    try SQLiteStore.backUp(storeAt: folder.file("a.sqlite"), to: folder.file("b.sqlite"))
    #expect(try Data(contentsOf: folder.file("b.sqlite")).count == Data(contentsOf: folder.file("a.sqlite")).count)
    let (copy, _) = try open("b.sqlite")
    #expect(try copy.count(FetchRequest("Person")) == 2)
  }

  // MARK: Damaged stores

  /// Writes zeros over a page of a table's rows.
  private func damage(_ name: String) throws {
    let page = try RawDatabase(folder.file(name)).connection.integer(
      "SELECT rootpage FROM sqlite_master WHERE name = 'ZPERSON'")
    let file = try FileHandle(forWritingTo: folder.file(name))
    try file.seek(toOffset: UInt64(try #require(page) - 1) * 4096)
    try file.write(contentsOf: Data(repeating: 0xff, count: 64))
    try file.close()
  }

  @Test func aDamagedStoreTakesThePlaceOfNoGoodCopy() throws {
    do {
      let (context, store) = try open("a.sqlite")
      try insert(1...3, in: context)
      try store.backUp(to: folder.file("good.sqlite"))
    }
    try damage("a.sqlite")
    let before = try folder.contents()
    for (name, replacing) in [("good.sqlite", true), ("new.sqlite", false)] {
      let error = #expect(throws: GraphError.self) {
        try SQLiteStore.backUp(storeAt: folder.file("a.sqlite"), to: folder.file(name), replacing: replacing)
      }
      #expect(error?.code == .invalidStore && error?.message.hasPrefix(folder.file("a.sqlite").path) == true)
      #expect(error?.message.contains("is damaged, and so would the copy be") == true, "\(error as Any)")
    }
    #expect(try folder.contents() == before)
  }

  @Test func whatDoesNotOpenAsAStoreTakesThePlaceOfNoGoodCopy() throws {
    do {
      let (context, store) = try open("a.sqlite")
      try insert(1...3, in: context)
      try store.backUp(to: folder.file("good.sqlite"))
    }
    try RawDatabase(folder.file("a.sqlite")).connection.execute("DROP TABLE Z_PRIMARYKEY")
    let before = try folder.contents()["good.sqlite"]
    let error = #expect(throws: GraphError.self) {
      try SQLiteStore.backUp(storeAt: folder.file("a.sqlite"), to: folder.file("good.sqlite"), replacing: true)
    }
    #expect(error?.message.contains("\(folder.file("a.sqlite").path) is damaged: it has no table Z_PRIMARYKEY") == true)
    #expect(try folder.contents()["good.sqlite"] == before)
  }
}
