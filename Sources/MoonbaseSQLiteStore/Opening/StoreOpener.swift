import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// Opens or makes a store's file, and returns its layout and connection.
///
/// Used once by `SQLiteStore.init`. First the state of the file is found out (`StoreFile.state`), then a reading
/// connection checks its contents, and then the writing connection is opened. A new file gets its tables at the end.
/// Processes may do this concurrently; locks and repetitions handle it.
struct StoreOpener {
  /// The opened file.
  struct Result {
    /// The tables and columns.
    var layout: StoreLayout
    /// The UUID and the version hashes.
    var metadata: StoreMetadata
    /// Nil where the store is only read.
    var writer: Session?
    /// Whether CloudKit mirrors the store.
    var isMirrored = false
    /// The features of the model that the file lacks.
    var missingFeatures: [MissingFeature] = []

    /// For an existing file.
    fileprivate init(_ contents: StoreContents, writer: Session?) {
      layout = contents.layout
      metadata = contents.metadata
      isMirrored = contents.isMirrored
      missingFeatures = contents.missingFeatures
      self.writer = writer
    }

    /// For a file that was just made.
    fileprivate init(_ layout: StoreLayout, metadata: StoreMetadata, writer: Session) {
      self.layout = layout
      self.metadata = metadata
      self.writer = writer
    }
  }

  /// The file to open.
  let file: StoreFile
  /// The model of the store.
  let model: ResolvedModel
  /// The entities of the configuration.
  let entities: [ResolvedEntity]
  /// The options of the caller.
  let options: SQLiteStoreOptions

  /// Throws `.incompatibleVersionHash`, `.invalidStore`, `.cannotOpenFile`, `.readOnlyStore` and `.storeBusy`.
  func open() throws -> Result {
    try file.settled {
      switch try file.state() {
      case .present: try openExisting() ?? create()
      case .absent where options.readOnly: throw file.missingError
      case .empty where options.readOnly: throw file.bareError
      case .absent, .empty: try create()
      }
    }
  }

  // MARK: An existing file

  /// Returns nil for a file without tables, in which a store can be made. A file of another process is opened with
  /// locks from the beginning.
  private func openExisting() throws -> Result? {
    if options.readOnly || !file.isWritable { return try openReadOnly() }
    SessionPool.closeReadOnlySessions(of: file)
    if file.isInUse { return try openInUse() }
    // The reading connection is closed before a writing connection is opened.
    guard let contents = try file.reading(contents) else { return nil }
    if isOnlyRead(contents) { return try onlyRead(contents) }
    return Result(contents, writer: try prepared(writer(), contents))
  }

  /// Throws `.readOnlyStore` if the caller wanted to write.
  private func openReadOnly() throws -> Result {
    guard let contents = try file.reading(contents) else { throw file.bareError }
    guard options.readOnly || isOnlyRead(contents) else {
      throw GraphError(
        .readOnlyStore, message: "\(file.path) may not be written: open it read-only, or change its permissions")
    }
    return try onlyRead(contents)
  }

  /// Throws where the options require tables that the file lacks. The result has no writing session.
  private func onlyRead(_ contents: StoreContents) throws -> Result {
    if options.tracksHistory, !contents.tracksHistory {
      try contents.checkIsWhole(file.path)
      throw GraphError(
        .readOnlyStore,
        message:
          "\(file.path) has no tables for a history, and is only read: open it for writing, or without tracksHistory (--keep-history)"
      )
    }
    return Result(contents, writer: nil)
  }

  /// Opens a file that another process has open, or left open when it died. SQLite's locks and its recovery are needed
  /// from the beginning. The log is kept if the store turns out to be only read.
  private func openInUse() throws -> Result? {
    let connection = try writer()
    connection.setLeavesLog(true)
    try file.requireWhole(connection)
    guard let contents = try contents(connection) else { return nil }
    if isOnlyRead(contents) { return try onlyRead(contents) }
    connection.setLeavesLog(false)
    return Result(contents, writer: try prepared(connection, contents))
  }

  /// Checks the identifier as well. Nil for a file without tables.
  private func contents(_ connection: Connection) throws -> StoreContents? {
    try connection.readingFacts(ofStoreAt: file.path) {
      let contents = try StoreContents(connection, path: file.path, model: model, entities: entities)
      try contents?.metadata.checkIdentifier(file.path)
      return contents
    }
  }

  /// Whether CloudKit or missing features forbid writing.
  private func isOnlyRead(_ contents: StoreContents) -> Bool {
    contents.isMirrored && !options.allowsCloudKit || !contents.missingFeatures.isEmpty
  }

  // MARK: A new file

  /// Makes the store, unless another process is faster.
  ///
  /// Until the transaction ends that makes everything, the file is a database without tables. A process that finds such
  /// a file, also after a crash, makes the store in it. Only then does the file get its log: an empty database in log
  /// mode is never an unfinished store. A failure removes a file that this call made.
  private func create() throws -> Result {
    try file.checkPlace()
    var builder = LayoutBuilder(model: model, entities: entities, file: nil, dialect: .sqlite)
    let layout = try builder.build()
    try layout.checkColumnCounts(.sqlite)
    let metadata = StoreMetadata(model: model, entities: entities)
    let isNew = try file.state() == .absent
    let connection = try writer(.create)
    do {
      try connection.executeScript("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL")
      let isMade = try patiently {
        try connection.transaction {
          if connection.hasMoved { throw file.movedError }
          guard try StoreContents.isBare(connection, path: file.path) else { return false }
          try SchemaWriter(layout: layout, metadata: metadata).write(connection)
          if options.tracksHistory { try HistorySchema(layout: layout, path: file.path).write(connection) }
          return true
        }
      }
      guard isMade else { return try opened(connection) }
      let session = try prepared(connection, layout, hasVirtualTables: !layout.rTrees.isEmpty)
      try session.enableLog()
      return Result(layout, metadata: metadata, writer: session)
    } catch {
      if isNew { removeBare(connection) }
      throw error
    }
  }

  /// Opens the store that another process made in the meantime. Its model is checked as usual.
  private func opened(_ connection: Connection) throws -> Result {
    guard let contents = try contents(connection) else { throw file.bareError }
    return try isOnlyRead(contents)
      ? onlyRead(contents) : Result(contents, writer: prepared(connection, contents))
  }

  /// Removes the file in which no store could be made, under the lock that prevents others from making one. Errors are
  /// ignored, because another error is already being thrown.
  private func removeBare(_ connection: Connection) {
    try? connection.transaction {
      guard try StoreContents.isBare(connection, path: file.path), !connection.hasMoved else { return }
      for suffix in ["", "-wal", "-shm"] { _ = UnlinkedPath.remove(file.truePath + suffix) }
    }
  }

  /// Repeats `body` where SQLite does not wait for a lock by itself. SQLite fails at once where waiting could end in a
  /// deadlock. Ends after the store's `busyTimeout`.
  private func patiently<Value>(_ body: () throws -> Value) throws -> Value {
    let deadline = Date(timeIntervalSinceNow: file.busyTimeout.seconds)
    while true {
      do {
        return try body()
      } catch let error as SQLiteError where error.code.primary == .busy && Date() < deadline {
        try HostWork.pause(milliseconds: 20)
      }
    }
  }

  // MARK: Connections

  /// The default mode fails for a missing file.
  private func writer(_ mode: Connection.Mode = .readWrite) throws -> Connection {
    let connection = try Connection(file.truePath, mode: file.mode(mode))
    connection.setBusyTimeout(milliseconds: file.busyTimeout.milliseconds)
    return connection
  }

  /// For an existing file, whose contents were read.
  private func prepared(_ connection: Connection, _ contents: StoreContents) throws -> Session {
    try prepared(connection, contents.layout, hasVirtualTables: contents.hasVirtualTables)
  }

  /// A session for a writing connection to a file with all tables. The file is not read again. Adds missing history
  /// tables if the options require them.
  private func prepared(
    _ connection: Connection, _ layout: StoreLayout, hasVirtualTables: Bool = false
  ) throws -> Session {
    let session = try Session(connection, options: options, isLazy: true)
    session.derivedColumns = try patiently {
      if hasVirtualTables { try connection.trustRTrees() }
      return try DerivedColumns(layout, on: connection)
    }
    let history = HistorySchema(layout: layout, path: file.path)
    guard options.tracksHistory, try !history.isThere(connection) else { return session }
    try patiently {
      try connection.transaction {
        if connection.hasMoved { throw file.movedError }
        try history.write(connection)
      }
    }
    return session
  }

  /// A session for a reader. For a writable store it is an ordinary connection, which takes part in the write-ahead
  /// log. For a read-only store the files on disk stay unchanged (`ReadingConnection`).
  static func reader(_ file: StoreFile, isReadOnly: Bool, options: SQLiteStoreOptions) throws -> Session {
    var options = options
    options.cacheSize = options.readerCacheSize
    guard isReadOnly else {
      let connection = try Connection(file.truePath, mode: file.mode(.readWrite))
      connection.setBusyTimeout(milliseconds: file.busyTimeout.milliseconds)
      try connection.execute("PRAGMA query_only = 1")
      return try Session(connection, options: options)
    }
    return try FileOpeningLock.withLock(file.truePath) {
      let reading = try file.openForReading()
      let session = try Session(reading.connection, options: options)
      session.ground = reading.ground
      return session
    }
  }
}
