import MoonbaseFaultyDisk
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools
import MoonbaseTestSupport
import Testing

/// A store keeps its file's journal mode until a save needs another mode.
@Suite struct JournalTests {
  /// A closed store with two rows, in a journal mode.
  private func closedStore(_ mode: String) throws -> (TemporaryFolder, ResolvedModel) {
    let people = try PeopleStore()
    try people.insert(people.row("Person"), people.row("Person"))
    let folder = try TemporaryFolder()
    let copy = try Connection(people.folder.file().path)
    try copy.executeScript("VACUUM INTO '\(folder.file().path)'")
    if mode == "wal" {
      let connection = try Connection(folder.file().path)
      #expect(try connection.text("PRAGMA journal_mode = WAL") == "wal")
    }
    #expect(try Array(folder.contents().keys) == ["store.sqlite"])
    return (folder, people.model)
  }

  private func query(_ model: ResolvedModel) throws -> StoreQuery {
    StoreQuery(entity: try #require(model.entity("Person")), in: model)
  }

  private func insertPast(_ connection: Connection) throws {
    try connection.execute("INSERT INTO ZPERSON (Z_ENT, Z_OPT, ZAGE) VALUES (2, 1, 30)")
  }

  @Test func aStoreWithAJournalKeepsItUntilTheFirstSave() throws {
    let (folder, model) = try closedStore("delete")
    let before = try folder.contents()
    let store = try SQLiteStore(url: folder.file(), model: model)
    #expect(try store.count(matching: query(model)) == 2)
    #expect(try folder.contents() == before)
    _ = try store.reserveKeys(for: try #require(model.entity("Person")), count: 1)
    #expect(try RawDatabase(folder.file()).value("PRAGMA journal_mode") == "wal")
  }

  /// With `synchronizesFully` each save syncs the log, and the pragma reports it; otherwise only a checkpoint does.
  @Test(arguments: [false, true]) func aSaveIsOnTheDiskBeforeItIsDoneWhereThatIsAskedFor(_ isFull: Bool) throws {
    let folder = try TemporaryFolder()
    let disk = try FaultyDisk(folder)
    let model = try People.model().resolved()
    let store = try SQLiteStore(url: folder.file(), model: model, options: .init(synchronizesFully: isFull))
    try store.setMetadata(["a": 0])
    let syncs = Lock(0)
    disk.listen { event in
      if event.step == .sync, event.name.hasSuffix("-wal") { syncs.withLock { $0 += 1 } }
    }
    for number in 1...5 { try store.setMetadata(["a": .int(Int64(number))]) }
    disk.listen(nil)
    #expect(syncs.withLock { $0 } == (isFull ? 5 : 0))
    #expect(try store.writersAnswer("PRAGMA synchronous") == (isFull ? 2 : 1))
  }

  /// In persistent journal mode, SQLite leaves a journal with a zeroed header.
  @Test(arguments: ["delete", "wal"], [false, true])
  func aJournalThatIsDoneWithIsNone(mode: String, readOnly: Bool) throws {
    let (folder, model) = try closedStore(mode)
    try Data(count: 512).write(to: URL(fileURLWithPath: folder.file().path + "-journal"))
    let store = try SQLiteStore(url: folder.file(), model: model, options: .init(readOnly: readOnly))
    #expect(try store.count(matching: query(model)) == 2)
    guard !readOnly else { return }
    _ = try store.reserveKeys(for: try #require(model.entity("Person")), count: 1)
  }

  @Test func aStoreThatSomebodyReadsKeepsItsJournalForASave() throws {
    let (folder, model) = try closedStore("delete")
    let store = try SQLiteStore(url: folder.file(), model: model)
    let other = try Connection(folder.file().path)
    let rows = try other.statement("SELECT * FROM Z_PRIMARYKEY")
    try rows.step()
    let error = #expect(throws: GraphError.self) {
      try SQLiteStore(url: folder.file(), model: model, options: .init(busyTimeout: .milliseconds(1))).setMetadata([
        "a": 1
      ])
    }
    #expect(error?.code == .storeBusy)
    #expect(error?.message.hasSuffix("another process is reading or writing the store; try again") == true)
    rows.reset()
    try store.setMetadata(["a": 1])
    #expect(try store.metadata()["a"] == 1)
  }

  @Test(arguments: ["delete", "wal"])
  func aStoreThatIsOnlyReadSeesWhatAWriterSavesThatComesLater(_ mode: String) throws {
    let (folder, model) = try closedStore(mode)
    let before = try folder.contents()
    let reader = try SQLiteStore(url: folder.file(), model: model, options: .init(readOnly: true))
    #expect(try reader.count(matching: query(model)) == 2)
    #expect(try folder.contents() == before)
    do {
      let writer = try Connection(folder.file().path)
      try insertPast(writer)
      #expect(try reader.count(matching: query(model)) == 3)
      try insertPast(writer)
      #expect(try reader.snapshots(matching: query(model)).count == 4)
      _ = try writer.text("PRAGMA wal_checkpoint(TRUNCATE)")
      try insertPast(writer)
      #expect(try reader.count(matching: query(model)) == 5)
    }
    #expect(try reader.count(matching: query(model)) == 5)
    try insertPast(try Connection(folder.file().path))
    #expect(try reader.count(matching: query(model)) == 6)
  }

  @Test func aReaderMakesNoLogWhereAWriterChangedToOneAndWent() throws {
    let (folder, model) = try closedStore("delete")
    let reader = try SQLiteStore(url: folder.file(), model: model, options: .init(readOnly: true))
    #expect(try reader.count(matching: query(model)) == 2)
    do {
      let writer = try Connection(folder.file().path)
      #expect(try writer.text("PRAGMA journal_mode = WAL") == "wal")
      try insertPast(writer)
    }
    let before = try folder.contents()
    #expect(try reader.count(matching: query(model)) == 3)
    #expect(try folder.contents() == before)
  }

  @Test func aReaderOfAReplacedFileSaysSo() throws {
    let (folder, model) = try closedStore("wal")
    let reader = try SQLiteStore(url: folder.file(), model: model, options: .init(readOnly: true))
    let (other, _) = try closedStore("wal")
    #expect(rename(other.file().path, folder.file().path) == 0)
    let error = #expect(throws: GraphError.self) { try reader.count(matching: query(model)) }
    #expect(error?.message.contains("moved, replaced or deleted") == true)
  }

  @Test func aDamagedLogIsNotRemovedByWhoReads() throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person"))
    let folder = try TemporaryFolder()
    let files = FileManager.default
    for suffix in ["", "-wal"] {
      try files.copyItem(atPath: people.folder.file().path + suffix, toPath: folder.file().path + suffix)
    }
    let log = try FileHandle(forUpdating: folder.file("store.sqlite-wal"))
    try log.write(contentsOf: Data([0]))
    try log.close()
    let before = try folder.contents()
    #expect(before["store.sqlite-wal"]?.isEmpty == false)
    _ = try? SQLiteStore(url: folder.file(), model: people.model, options: .init(readOnly: true))
    _ = try? SQLiteStore.metadata(ofStoreAt: folder.file())
    #expect(try folder.contents() == before)
  }

  @Test func virtualTablesOfUnknownModulesAreLeftAlone() throws {
    let (folder, model) = try closedStore("delete")
    let raw = try RawDatabase(folder.file(), trustsSchema: true)
    try raw.connection.executeScript(
      """
      PRAGMA writable_schema = 1;
      INSERT INTO sqlite_master VALUES ('table', 'Spotlight', 'Spotlight', 0, 'CREATE VIRTUAL TABLE Spotlight USING apps_own(a)');
      INSERT INTO sqlite_master VALUES
        ('table', 'Words', 'Words', 0, 'CREATE VIRTUAL TABLE Words USING fts5(a, tokenize = apps_own)');
      PRAGMA writable_schema = RESET
      """)
    for readOnly in [true, false] {
      let store = try SQLiteStore(url: folder.file(), model: model, options: .init(readOnly: readOnly))
      #expect(try store.count(matching: query(model)) == 2)
      if !readOnly { try store.setMetadata(["a": 1]) }
    }
  }

  @Test func slashesBeforeAPathNameNoAuthority() throws {
    let (folder, model) = try closedStore("delete")
    let url = URL(fileURLWithPath: "//" + folder.file().path)
    let store = try SQLiteStore(url: url, model: model, options: .init(readOnly: true))
    #expect(try store.count(matching: query(model)) == 2)
    #expect(try SQLiteStore.metadata(ofStoreAt: url)["NSStoreType"] == "SQLite")
  }

  @Test(arguments: [false, true])
  func openingWaitsForAWriterThatCommitsWithAJournal(readOnly: Bool) async throws {
    let (folder, model) = try closedStore("delete")
    let writer = try Connection(folder.file().path)
    try writer.execute("BEGIN EXCLUSIVE")
    let url = folder.file()
    let isCommitted = Lock(false)
    let opening = Task.detached {
      _ = try SQLiteStore.metadata(ofStoreAt: url)
      _ = try SQLiteStore(url: url, model: model, options: .init(readOnly: readOnly))
      return isCommitted.withLock { $0 }
    }
    usleep(300_000)
    isCommitted.withLock { $0 = true }
    try writer.execute("COMMIT")
    #expect(try await opening.value)
  }

  @Test func aStoreThatIsBusyKeepsNobodyFromOpeningAnother() async throws {
    let (folder, model) = try closedStore("delete")
    let blocker = try Connection(folder.file().path)
    try blocker.execute("BEGIN EXCLUSIVE")
    let url = folder.file()
    let slow = Task.detached {
      try? SQLiteStore(url: url, model: model, options: .init(busyTimeout: .milliseconds(3000)))
    }
    usleep(300_000)
    let start = Date()
    _ = try PeopleStore()
    #expect(Date().timeIntervalSince(start) < 2)
    try blocker.execute("ROLLBACK")
    #expect(await slow.value != nil)
  }
}
