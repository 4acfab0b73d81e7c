import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
package import MoonbaseSQLite

/// Connections for work on a store that is not open.
extension StoreFile {
  /// A writing connection to an existing store. Throws for a file that is no store. Idle read-only connections of this
  /// process are closed before.
  package func connectionToChange() throws -> Connection {
    try requirePresent()
    guard isWritable else {
      throw GraphError(.readOnlyStore, message: "\(path) may not be written: change its permissions")
    }
    // An incomplete file is not written: closing the connection would copy its log into it.
    if !hasJournal { try reading { _ in } }
    SessionPool.closeReadOnlySessions(of: self)
    let connection = try Connection(truePath, mode: mode(.readWrite))
    connection.setBusyTimeout(milliseconds: busyTimeout.milliseconds)
    return connection
  }

  /// Runs `body` while no other process has the store open, with all data in the one file. The transaction is rolled
  /// back at the end, so that `body` changes files but no rows. Throws `.storeBusy`.
  package func alone<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    let connection = try connectionToChange()
    try requireWhole(connection)
    _ = try StoreMetadata(connection, path: path)
    // This copies the log into the file. Fails while another process has the store open.
    guard try connection.text("PRAGMA journal_mode = DELETE") == "delete" else {
      throw GraphError(.storeBusy, message: "\(path) is open in another process: close it there and try again")
    }
    try connection.execute("BEGIN EXCLUSIVE")
    defer { connection.rollBack() }
    if connection.hasMoved { throw movedError }
    return try body(connection)
  }

  /// Runs `body` while no other process reads or writes the store. Only `body` may change the store. In contrast to
  /// `alone`, the log stays. Used by migrations.
  package func held<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    let hasLog = (size("-wal") ?? 0) > 0
    let connection = try connectionToChange()
    // An existing log is kept. An empty log, which the lock makes, is removed with the connection.
    connection.setLeavesLog(hasLog)
    // The lock of the transaction is held until the connection is closed.
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    try connection.execute("BEGIN EXCLUSIVE")
    connection.rollBack()
    if connection.hasMoved { throw movedError }
    return try body(connection)
  }

  /// Copies the log of a locked store into the file, so that no other file belongs to the store. Throws `.storeBusy` if
  /// another connection has the file open.
  package func mergeLog(_ connection: Connection) throws {
    guard try connection.text("PRAGMA journal_mode = DELETE") == "delete" else {
      throw GraphError(.storeBusy, message: "\(path) is open in another process: close it there and try again")
    }
    // While it holds its lock, SQLite keeps the file of a finished journal, and ignores an index that it did not use.
    for suffix in ["-journal", "-shm"] { unlink(truePath + suffix) }
  }

  /// Removes the files that SQLite keeps beside a removed file. Missing files are ignored.
  package func removeCompanions() {
    for suffix in Self.companions { unlink(truePath + suffix) }
  }
}
