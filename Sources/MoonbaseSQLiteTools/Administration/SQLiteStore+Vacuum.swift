import MoonbaseGraph
public import MoonbasePlatform
import MoonbaseSQLite
public import MoonbaseSQLiteStore

/// Compacting the file of a store, for `moonbase vacuum`.
extension SQLiteStore {
  /// Releases the free pages of a store's file, and makes each table's pages contiguous. Objects, keys and metadata are
  /// unchanged.
  ///
  /// Throws `.storeBusy` after `busyTimeout` (5 seconds) where another connection writes. Otherwise throws `GraphError`
  /// as opening does. The disk needs room for a second copy of the file.
  ///
  /// Returns the sizes of the file before and after the call, in bytes. Also empties the log. Nothing else may change
  /// the file meanwhile; readers with a log may go on.
  @discardableResult
  public static func vacuum(storeAt url: URL, busyTimeout: Duration? = nil) throws -> (before: Int, after: Int) {
    let file = StoreFile(url: url, busyTimeout: busyTimeout)
    return try file.settled {
      try file.requirePresent()
      let connection = try file.connectionToChange()
      try file.requireWhole(connection)
      try StoreMetadata(connection, path: file.path).checkIdentifier(file.path)
      let before = try size(connection)
      try connection.execute("VACUUM")
      // A log would keep the old pages until the next checkpoint.
      _ = try connection.integer("PRAGMA wal_checkpoint(TRUNCATE)")
      return (before, try size(connection))
    }
  }

  /// In bytes.
  private static func size(_ connection: Connection) throws -> Int {
    let pages = try connection.integer("PRAGMA page_count") ?? 0
    return Int(clamping: pages * (try connection.integer("PRAGMA page_size") ?? 0))
  }
}
