import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// A store of shelves on a faulty disk, and direct reads of its files.
struct ShelfBench {
  let folder: TemporaryFolder
  let disk: FaultyDisk
  let store: SQLiteStore
  let raw: RawDatabase
  var script: ShelfScript

  /// `onDisk` may listen to the disk before the store is made.
  init(hasLogs: Bool, onDisk: (FaultyDisk) -> Void = { _ in }) throws {
    folder = try TemporaryFolder()
    disk = try FaultyDisk(folder, hasLogs: hasLogs)
    onDisk(disk)
    let model = try ShelfScript.model().resolved()
    store = try SQLiteStore(url: folder.file(), model: model, options: .init(tracksHistory: true))
    raw = try RawDatabase(folder.file())
    try raw.connection.execute("CREATE TABLE filler (number INTEGER PRIMARY KEY, bytes)")
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(store)
    script = ShelfScript(try ManagedObjectContext(coordinator))
  }

  private static let skipped: Set = ["Z_METADATA", "Z_MODELCACHE", "filler"]

  /// The rows.
  static func contents(_ raw: RawDatabase) throws -> TableContents { try TableContents(raw, without: skipped) }

  /// The rows as texts.
  static func text(_ raw: RawDatabase) throws -> [String] { try TableContents.text(raw, without: skipped) }

  /// Makes the log so long that the next save checkpoints it.
  func fillLog() throws {
    try raw.connection.execute("PRAGMA wal_autocheckpoint = 0")
    try raw.connection.execute("INSERT OR REPLACE INTO filler VALUES (1, zeroblob(4500000))")
  }

  /// The names and lengths of the external files of covers.
  static func files(_ folder: TemporaryFolder) -> [String: Int] {
    let support = folder.file(".store_SUPPORT/_EXTERNAL_DATA")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: support.path)) ?? []
    return Dictionary(
      uniqueKeysWithValues: names.map { ($0, (try? Data(contentsOf: support.appendingPathComponent($0)).count) ?? -1) })
  }

  /// The names of the files that rows refer to.
  static func namedFiles(_ raw: RawDatabase) throws -> [String] {
    try raw.rows("SELECT CAST(SUBSTR(ZCOVER, 2, 36) AS TEXT) FROM ZBOOK WHERE LENGTH(ZCOVER) = 38")
  }
}
