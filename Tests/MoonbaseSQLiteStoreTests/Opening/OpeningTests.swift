import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

@Suite struct OpeningTests {
  private static func refusal(_ url: URL, readOnly: Bool = false, _ model: ManagedObjectModel = People.model()) throws
    -> GraphError?
  {
    let model = try model.resolved()
    return #expect(throws: GraphError.self) {
      try SQLiteStore(url: url, model: model, options: .init(readOnly: readOnly))
    }
  }

  @Test func aMissingFileIsNotMadeWhereItIsOnlyToBeRead() throws {
    let folder = try TemporaryFolder()
    let error = try Self.refusal(folder.file(), readOnly: true)
    #expect(error?.code == .cannotOpenFile)
    #expect(error?.message.contains(folder.file().path) == true)
    #expect(try folder.contents().isEmpty)
    #expect(try Self.refusal(folder.file("none/store.sqlite"))?.code == .cannotOpenFile)
    #expect(throws: GraphError.self) { try SQLiteStore.metadata(ofStoreAt: folder.file()) }
  }

  @Test func aFolderIsRefused() throws {
    let folder = try TemporaryFolder()
    #expect(try Self.refusal(folder.url)?.code == .cannotOpenFile)
    #expect(try folder.contents().isEmpty)
  }

  @Test func aFileThatIsNoDatabaseIsRefusedAndLeftAlone() throws {
    let folder = try TemporaryFolder()
    try Data("These are notes, not a database.".utf8).write(to: folder.file())
    let before = try folder.contents()
    let error = try Self.refusal(folder.file())
    #expect(error?.code == .invalidStore)
    #expect(error?.message.contains("is not a SQLite database") == true)
    #expect(try folder.contents() == before)
  }

  /// Encryption leaves no byte unchanged, or only the beginning of the header.
  @Test(arguments: [0, 16, 32]) func anEncryptedStoreIsRefusedAndLeftAlone(_ plainBytes: Int) throws {
    let folder = try TemporaryFolder()
    _ = try SQLiteStore(url: folder.file(), model: People.model().resolved())
    var bytes = try Data(contentsOf: folder.file())
    var random = SplitMix(7)
    for place in plainBytes..<bytes.count { bytes[place] ^= UInt8(1 + random.next(255)) }
    try bytes.write(to: folder.file())
    let before = try folder.contents()
    for isReadOnly in [true, false] {
      let error = try Self.refusal(folder.file(), readOnly: isReadOnly)
      #expect(error?.code == .invalidStore)
      #expect(error?.message.contains(folder.file().path) == true, "\(error as Any)")
      #expect(error?.message.contains("encrypted") == true, "\(error as Any)")
      #expect(try folder.contents() == before)
    }
  }

  @Test(arguments: ["DELETE", "WAL"])
  func aDatabaseThatIsNoStoreIsRefusedAndLeftAloneInEveryJournalMode(mode: String) throws {
    let folder = try TemporaryFolder()
    do {
      let connection = try Connection(folder.file().path)
      try connection.execute("PRAGMA journal_mode = \(mode)")
      try connection.execute("CREATE TABLE notes (text)")
    }
    let before = try folder.contents()
    let error = try Self.refusal(folder.file())
    #expect(error?.code == .invalidStore)
    #expect(error?.message.contains("no Core Data store") == true)
    #expect(try folder.contents() == before)
  }

  @Test func aDamagedDatabaseIsRefusedAndLeftAlone() throws {
    let folder = try TemporaryFolder()
    try (Data("SQLite format 3\u{0}".utf8) + Data(repeating: 0xa5, count: 4080)).write(to: folder.file())
    let before = try folder.contents()
    #expect(try Self.refusal(folder.file())?.code == .invalidStore)
    #expect(try folder.contents() == before)
  }

  @Test func anEmptyFileBecomesAStore() throws {
    let folder = try TemporaryFolder()
    try Data().write(to: folder.file())
    _ = try SQLiteStore(url: folder.file(), model: People.model().resolved())
    #expect(try RawDatabase(folder.file()).value("SELECT COUNT(*) FROM Z_PRIMARYKEY") == "4")
  }

  @Test func anotherVersionOfTheModelIsRefusedWithWhatDiffersAndTheFileIsLeftAlone() throws {
    let people = try PeopleStore()
    var model = People.model()
    model.entities[0].attributes.append(AttributeDescription("nickname", type: .string))
    model.entities[3].name = "Task"
    model.entities[2].relationships[1].destinationEntityName = "Task"
    let before = try Data(contentsOf: people.folder.file())
    let error = try Self.refusal(people.folder.file(), model)
    #expect(error?.code == .incompatibleVersionHash)
    #expect(error?.message.contains("only the store has Project; only the model has Task") == true)
    #expect(error?.message.contains("differently declared: Department, Employee, Person") == true)
    #expect(error?.details.contains { $0.entity == "Person" && $0.message.contains("nickname") } == true)
    #expect(try Data(contentsOf: people.folder.file()) == before)
  }

  @Test func aStoreThatAWriterHoldsOpenWithoutHavingWrittenIsReadBesideIt() throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person"))
    try RawDatabase(people.folder.file()).connection.executeScript("PRAGMA wal_checkpoint(TRUNCATE)")
    let reader = try SQLiteStore(url: people.folder.file(), model: people.model, options: .init(readOnly: true))
    #expect(try reader.count(matching: people.query("Person")) == 1)
    try people.insert(people.row("Person"))
    #expect(try reader.count(matching: people.query("Person")) == 2)
  }

  @Test func aModelThatTheFormatCannotHoldIsRefusedAndNoFileIsLeftBehind() throws {
    let folder = try TemporaryFolder()
    var model = People.model()
    model.entities[0].attributes[5] = AttributeDescription("bounds", type: .composite)
    let error = try Self.refusal(folder.file(), model)
    #expect(error?.property == "bounds")
    #expect(try folder.contents().isEmpty)
  }

  @Test func aStoreThatCloudKitMirrorsIsOnlyReadUnlessThatIsAllowed() throws {
    let people = try PeopleStore()
    try RawDatabase(people.folder.file()).connection.execute(
      "CREATE TABLE ANSCKMETADATAENTRY (Z_PK INTEGER PRIMARY KEY)")
    let store = try SQLiteStore(url: people.folder.file(), model: people.model)
    #expect(store.isReadOnly)
    let coordinator = PersistentStoreCoordinator(model: people.model)
    try coordinator.add(store)
    let context = try ManagedObjectContext(coordinator)
    try context.insert("Person")
    #expect { try context.save() } throws: {
      "\($0)".contains("the store of Person is read-only: CloudKit mirrors it (it has tables ANSCK*)")
    }
    #expect(
      try !SQLiteStore(url: people.folder.file(), model: people.model, options: .init(allowsCloudKit: true)).isReadOnly)
  }

  @Test func unknownTablesAreLeftAlone() throws {
    let people = try PeopleStore()
    let raw = try RawDatabase(people.folder.file())
    try raw.connection.execute("CREATE TABLE Other (a); ")
    try raw.connection.execute("INSERT INTO Other VALUES (7)")
    let store = try SQLiteStore(url: people.folder.file(), model: people.model)
    _ = try store.reserveKeys(for: people.entity("Person"), count: 1)
    #expect(try raw.value("SELECT a FROM Other") == "7")
  }

  @Test func aStoreThatAnotherConnectionWritesIsBusyForWritersAndOpenForReaders() throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person"))
    let store = try SQLiteStore(
      url: people.folder.file(), model: people.model, options: .init(busyTimeout: .milliseconds(1)))
    let other = try Connection(people.folder.file().path)
    try other.execute("BEGIN IMMEDIATE")
    let error = #expect(throws: GraphError.self) { try store.reserveKeys(for: people.entity("Person"), count: 1) }
    #expect(error?.code == .storeBusy)
    #expect(try store.count(matching: people.query("Person")) == 1)
    try other.execute("ROLLBACK")
    #expect(throws: Never.self) { try store.reserveKeys(for: people.entity("Person"), count: 1) }
  }

  @Test func aReaderSeesWhatALiveWriterHasCommittedAndCannotSave() throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person"))
    let reader = try SQLiteStore(url: people.folder.file(), model: people.model, options: .init(readOnly: true))
    #expect(try reader.count(matching: people.query("Person")) == 1)
    try people.insert(people.row("Person"))
    #expect(try reader.count(matching: people.query("Person")) == 2)
    let error = #expect(throws: GraphError.self) { try reader.save(StoreChanges()) }
    #expect(error?.code == .readOnlyStore)
  }

  @Test func oneConfigurationHoldsItsEntitiesOnly() throws {
    var model = People.model()
    model.configurations = ["Staff": ["Employee"]]
    model.entities[0].relationships = model.entities[0].relationships.filter { $0.name == "friends" }
    model.entities[2].relationships.removeFirst()
    let folder = try TemporaryFolder()
    let resolved = try model.resolved()
    let store = try SQLiteStore(url: folder.file(), model: resolved, configuration: "Staff")
    #expect(store.entities.map(\.name) == ["Person", "Employee"])
    #expect(
      try RawDatabase(folder.file()).rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY") == ["1|Person", "2|Employee"])
    let error = #expect(throws: GraphError.self) {
      try store.count(matching: StoreQuery(entity: resolved.entity("Project")!, in: resolved))
    }
    #expect(error?.code == .invalidRequest)
  }
}
