import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// A file that is cut short, with and without a log or journal that completes it.
@Suite struct TruncatedStoreTests {
  private static let rowCount = 400
  private static let rows =
    "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n LIMIT \(rowCount)) "
    + "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZAGE, ZFIRSTNAME) SELECT i, 2, 1, 30, hex(zeroblob(200)) FROM n"

  private let folder: TemporaryFolder
  private let model: ResolvedModel
  private var url: URL { folder.file() }

  /// A single-file store with pages of 4,096 bytes, in a journal mode, with rows that fill many pages.
  private init(_ mode: String) throws {
    let people = try PeopleStore()
    (folder, model) = (try TemporaryFolder(), people.model)
    let connection = try Connection(people.folder.file().path)
    try connection.executeScript("\(Self.rows); VACUUM INTO '\(url.path)'")
    let copy = try Connection(url.path)
    #expect(try copy.text("PRAGMA journal_mode = \(mode)") == mode)
  }

  init() throws { try self.init("delete") }

  private func cut(_ bytes: Int, of url: URL) throws {
    let size = try Data(contentsOf: url).count
    #expect(truncate(url.path, off_t(size - bytes)) == 0)
  }

  private func count(_ url: URL, readOnly: Bool = false) throws -> Int {
    let store = try SQLiteStore(url: url, model: model, options: .init(readOnly: readOnly))
    return try store.count(matching: StoreQuery(entity: #require(model.entity("Person")), in: model))
  }

  /// Every way of opening the file reports the missing bytes and leaves the file unchanged.
  private func expectRefusal(of url: URL, in folder: TemporaryFolder, missing bytes: Int) throws {
    let before = try folder.contents()
    let ways: [(String, () throws -> Void)] = [
      ("writing", { _ = try count(url) }), ("reading", { _ = try count(url, readOnly: true) }),
      ("metadata", { _ = try SQLiteStore.metadata(ofStoreAt: url) }),
      ("new metadata", { try SQLiteStore.setMetadata(["a": 1], ofStoreAt: url) }),
      ("a check", { try StoreCheck(storeAt: url, model: model) { _ in }.run() }),
      ("a repair", { try StoreRepair.run(storeAt: url, model: model, allowsCloudKit: false) }),
      ("a backup", { try SQLiteStore.backUp(storeAt: url, to: folder.file("copy.sqlite")) }),
      ("a migration", { try SQLiteStore.migrate(storeAt: url, to: model) }),
      ("a query", { _ = try NamedQuery("SELECT 1", ofStoreAt: url, model: nil) }),
    ]
    for (name, way) in ways {
      let error = #expect(throws: GraphError.self, "\(name)") { try way() }
      #expect(error?.code == .invalidStore, "\(name): \(error as Any)")
      #expect(
        error?.message.hasPrefix("\(url.path) is truncated: \(bytes) bytes at its end are missing") == true,
        "\(name): \(error as Any)")
      #expect(try folder.contents() == before, "\(name)")
    }
  }

  @Test(arguments: ["delete", "wal"], [1000, 4095, 4096, 20_000])
  func aFileThatIsCutIsRefused(mode: String, bytes: Int) throws {
    let tests = try Self(mode)
    try tests.cut(bytes, of: tests.url)
    try tests.expectRefusal(of: tests.url, in: tests.folder, missing: bytes)
  }

  /// Copies of the store's files taken during `body`, which no process has open.
  private func files(amid body: (Connection) throws -> Void) throws -> TemporaryFolder {
    let connection = try Connection(url.path)
    try connection.executeScript("PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 5; PRAGMA synchronous = FULL")
    try body(connection)
    let copy = try TemporaryFolder()
    for (name, data) in try folder.contents() where !name.hasSuffix("-shm") { try data.write(to: copy.file(name)) }
    connection.rollBack()
    return copy
  }

  @Test func aLogThatHasTheLastPageCompletesTheFile() throws {
    let tests = try Self("wal")
    let copy = try tests.files { try $0.execute("UPDATE ZPERSON SET ZAGE = 31, ZFIRSTNAME = lower(ZFIRSTNAME) || 'x'") }
    try tests.cut(1000, of: copy.file())
    #expect(try tests.count(copy.file(), readOnly: true) == Self.rowCount)
    #expect(try tests.count(copy.file()) == Self.rowCount)
    #expect(try Connection(copy.file().path).text("PRAGMA integrity_check") == "ok")
  }

  /// As left by a checkpoint that was interrupted after some of the new pages.
  @Test func aFileThatIsShorterThanItsLogSaysIsWhole() throws {
    let tests = try Self("wal")
    let more = Self.rows.replacing("SELECT 10", with: "SELECT 10000")
    let copy = try tests.files { try $0.execute(more) }
    #expect(try tests.count(copy.file(), readOnly: true) == 2 * Self.rowCount)
    let grown = try FileHandle(forWritingTo: copy.file())
    try grown.seekToEnd()
    try grown.write(contentsOf: Data(repeating: 0, count: 700))
    try grown.close()
    #expect(try tests.count(copy.file()) == 2 * Self.rowCount)
  }

  @Test(arguments: [1000, 4096, 9000]) func aLogThatLacksThePagesCompletesNothing(bytes: Int) throws {
    let tests = try Self("wal")
    let copy = try tests.files { try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 5000") }
    try tests.cut(bytes, of: copy.file())
    try tests.expectRefusal(of: copy.file(), in: copy, missing: bytes)
  }

  @Test func aJournalThatRestoresTheFileIsRolledBack() throws {
    let copy = try files {
      try $0.begin()
      try $0.execute("DELETE FROM ZPERSON WHERE Z_PK % 2 = 0")
    }
    #expect(try copy.contents()["store.sqlite-journal"]?.first ?? 0 != 0)
    let before = try copy.contents()
    let error = #expect(throws: GraphError.self) { try count(copy.file(), readOnly: true) }
    #expect(error?.code == .readOnlyStore)
    #expect(
      error?.message.contains("(moonbase run --store \(copy.file().path) -e return)") == true, "\(error as Any)")
    #expect(try copy.contents() == before)
    #expect(try count(copy.file()) == Self.rowCount)
  }
}
