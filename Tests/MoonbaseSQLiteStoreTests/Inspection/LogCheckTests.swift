import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// Findings of `moonbase doctor` about a write-ahead log that SQLite reads only in part.
@Suite struct LogCheckTests {
  private static let frame = 24 + 4096

  private let people: PeopleStore

  init() throws {
    people = try PeopleStore()
    for age in 1...3 { try people.insert(people.row("Person", ["age": .int(Int64(age))])) }
  }

  /// A copy of the store and its log, which no process has open; `body` changes the bytes of the log.
  private func copy(_ body: (inout Data) -> Void = { _ in }) throws -> TemporaryFolder {
    let copy = try TemporaryFolder()
    for (name, data) in try people.folder.contents() where !name.hasSuffix("-shm") {
      var data = data
      if name.hasSuffix("-wal") { body(&data) }
      try data.write(to: copy.file(name))
    }
    return copy
  }

  private func findings(_ folder: TemporaryFolder) throws -> [StoreFinding] {
    var found: [StoreFinding] = []
    func files() throws -> [String: Data] { try folder.contents().filter { !$0.key.hasSuffix("-shm") } }
    let before = try files()
    try StoreCheck(storeAt: folder.file(), model: people.model) { found.append($0) }.run()
    #expect(try files() == before)
    return found
  }

  @Test func aLogThatIsReadAsAWholeIsNoFinding() throws {
    #expect(try findings(copy()) == [])
    #expect(try findings(people.folder) == [])
  }

  @Test func savesBehindAFlippedByteAreTold() throws {
    var (frames, first) = (0, 0)
    let folder = try copy { log in
      frames = (log.count - 32) / Self.frame
      // Finds the last transaction but one: each transaction ends with a frame that holds the number of pages of the
      // database.
      let ends = (0..<frames).filter {
        log[(32 + $0 * Self.frame + 4)..<(32 + $0 * Self.frame + 8)].contains { $0 != 0 }
      }
      first = ends[ends.count - 3] + 1
      log[32 + first * Self.frame + 500] ^= 1
    }
    let found = try #require(try findings(folder).first { $0.kind == .log })
    #expect(found.place == "\(folder.file().path)-wal" && found.repair == .none)
    let lost = frames - first
    #expect(found.message.contains("does not read \(lost) pages (\(lost * Self.frame) bytes)"), "\(found)")
    // SQLite itself reports no problem.
    #expect(try Connection(folder.file().path).text("PRAGMA integrity_check") == "ok")
  }

  @Test func aLogWithADamagedHeadIsTold() throws {
    let folder = try copy { $0[20] ^= 1 }
    let found = try findings(folder)
    #expect(found.contains { $0.kind == .log && $0.message.contains("its head is damaged") }, "\(found)")
  }

  /// Old frames after a restarted log or a rollback are no loss.
  @Test func whatACheckpointOrARollbackLeftIsNoFinding() throws {
    let raw = try RawDatabase(people.folder.file())
    try raw.connection.executeScript("PRAGMA cache_size = 3")
    try raw.connection.begin()
    try raw.connection.execute(
      "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n LIMIT 500) "
        + "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZFIRSTNAME) SELECT i, 2, 1, hex(zeroblob(300)) FROM n")
    raw.connection.rollBack()
    try people.insert(people.row("Person"))
    #expect(try findings(copy()) == [])
    _ = try raw.rows("PRAGMA wal_checkpoint(RESTART)")
    try people.insert(people.row("Person"))
    #expect(try findings(copy()) == [])
  }

  /// The store never assigned a key, and yet there are rows.
  @Test func aStoreWithRowsIsNoneThatNeverHadAnObject() throws {
    let folder = try copy()
    let raw = try RawDatabase(folder.file())
    try raw.connection.executeScript(
      "UPDATE Z_PRIMARYKEY SET Z_MAX = 0; VACUUM INTO '\(folder.file("one.sqlite").path)'")
    func mayLackLog(_ change: String) throws -> Bool {
      try Connection(folder.file("one.sqlite").path).executeScript(change)
      let check = try StoreCheck(storeAt: folder.file("one.sqlite"), model: people.model) { _ in }
      try check.run()
      return check.mayLackLog
    }
    #expect(try !mayLackLog("PRAGMA journal_mode = WAL"))
    #expect(try mayLackLog("DELETE FROM ZPERSON"))
  }
}
