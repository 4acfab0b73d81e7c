import MoonbaseGraph
public import MoonbaseModel
public import MoonbasePlatform
import MoonbaseSQLite

/// What is done with whole stores that are not open.
extension SQLiteStore {
  /// Removes a store with all that belongs to it: its log and journal, and the folder of its external values.
  ///
  /// One that is not there is no error; what an earlier removal left is taken away. Either the store is gone or nothing happened: where a
  /// process dies in between, files without a store may be left, which nobody reads, and which another call removes.
  ///
  /// Throws `.invalidRequest` for a store that this process has open, `.storeBusy` where another process reads or writes it, `.invalidStore`
  /// for a database that is none, and `GraphError` as opening does.
  public static func destroy(storeAt url: URL) throws {
    let file = StoreFile(url: url)
    try requireClosed(file, participle: "destroyed")
    try StoreOpener.settled(file) { try StoreRemoval(file: file).run() }
  }

  /// Puts a copy of a store in the place of another one, with the values that it keeps in files of their own; where there is none, the copy
  /// is made.
  ///
  /// The copy has the UUID of the original: a coordinator takes only one of them. The original is only read, and may be open. Either
  /// the store is replaced or it is as it was, also where a process dies in between; then files may be left, which nobody reads.
  ///
  /// Throws as `destroy(storeAt:)` does.
  public static func replace(storeAt url: URL, withStoreFrom original: URL) throws {
    let source = StoreFile(url: original)
    try StoreReplacement(source: source, destination: closedDestination(url, for: source)).run()
  }

  /// A file that a copy may become: neither the original nor open.
  static func closedDestination(_ url: URL, for source: StoreFile) throws -> StoreFile {
    let file = StoreFile(url: url, busyTimeout: source.busyTimeout)
    guard file.truePath != source.truePath, file.identity == nil || file.identity != source.identity else {
      throw GraphError(.invalidRequest, message: "\(file.path) and \(source.path) are one store: name another one")
    }
    guard !source.meets(file) else {
      throw GraphError(
        .invalidRequest,
        message: "\(file.path) is a place of the store \(source.path), which keeps files there: name another one")
    }
    try requireClosed(file, participle: "replaced")
    return file
  }

  /// Replaces the metadata of a store that is not open, but for what is the store's own.
  ///
  /// Throws `GraphError` as opening does, and `.invalidValue` for what no property list holds.
  public static func setMetadata(_ metadata: [String: Value], ofStoreAt url: URL) throws {
    let file = StoreFile(url: url)
    try StoreOpener.settled(file) {
      let connection = try file.connectionToChange()
      try file.requireWhole(connection)
      try connection.transaction {
        if connection.hasMoved { throw StoreOpener.moved(file) }
        try connection.boundTriggers(to: SQLiteStoreOptions().triggerStepLimit)
        var stored = try StoreMetadata(connection, path: file.path)
        try stored.replaceForeignEntries(with: metadata)
        try stored.write(connection)
      }
    }
  }

  static func requireClosed(_ file: StoreFile, participle: String) throws {
    guard OpenStores.hold(path: file.truePath, writing: true) else { return }
    throw GraphError(
      .invalidRequest,
      message: "\(file.path) is open in this process and cannot be \(participle): remove it from its coordinator before"
    )
  }
}

extension StoreFile {
  /// A connection to a store that is there. Throws for a file that is none.
  func connectionToChange() throws -> Connection {
    try requirePresent()
    guard isWritable else {
      throw GraphError(.readOnlyStore, message: "\(path) may not be written: change its permissions")
    }
    // Nothing is written to a file that is not whole: its log would be taken in where the connection is closed.
    if !hasJournal { try reading { _ in } }
    SessionPool.closeReadOnlySessions(of: self)
    let connection = try Connection(truePath, mode: mode(.readWrite))
    connection.setBusyTimeout(milliseconds: busyTimeout.milliseconds)
    return connection
  }

  /// Runs `body` while no other process has the store open, and all of it is in the one file.
  func alone<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    let connection = try connectionToChange()
    try requireWhole(connection)
    _ = try StoreMetadata(connection, path: path)
    // This takes the log in, and it can only where nobody else has the store.
    guard try connection.text("PRAGMA journal_mode = DELETE") == "delete" else {
      throw GraphError(.storeBusy, message: "\(path) is open in another process: close it there and try again")
    }
    try connection.execute("BEGIN EXCLUSIVE")
    defer { connection.rollBack() }
    if connection.hasMoved { throw StoreOpener.moved(self) }
    return try body(connection)
  }

  /// Runs `body` while no other process reads or writes the store. Nothing of it changes, unless `body` changes it.
  func held<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    let hasLog = (size("-wal") ?? 0) > 0
    let connection = try connectionToChange()
    // A log that was there stays; an empty one, which the lock takes, goes with the connection.
    connection.setLeavesLog(hasLog)
    // The lock that the transaction takes stays until the connection is closed.
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    try connection.execute("BEGIN EXCLUSIVE")
    connection.rollBack()
    if connection.hasMoved { throw StoreOpener.moved(self) }
    return try body(connection)
  }

  /// Takes the log of a store that is held into the file, so that nothing beside it belongs to it.
  func takeLogIn(_ connection: Connection) throws {
    guard try connection.text("PRAGMA journal_mode = DELETE") == "delete" else {
      throw GraphError(.storeBusy, message: "\(path) is open in another process: close it there and try again")
    }
    // SQLite keeps the file of a journal that is done with, as long as it keeps its lock, and does not look at an index that it did not use.
    for suffix in ["-journal", "-shm"] { unlink(truePath + suffix) }
  }

  /// Removes what SQLite keeps beside a file that is gone.
  func removeCompanions() {
    for suffix in Self.companions { unlink(truePath + suffix) }
  }
}
