import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
package import MoonbaseSQLite

/// A connection with its registered functions and caches. The pool or the writer's lock gives a session to one thread
/// at a time.
///
/// A store has one writing session, and reading sessions in a `SessionPool`. A session ends with its connection. Caches
/// inside depend on the version of the schema and are read again after a change.
package final class Session: @unchecked Sendable {  // the pool or the writer's lock confines it
  /// The connection, used by one thread at a time.
  package let connection: Connection
  /// For a read-only connection, the reason why the data read is consistent. Nil for connections that may write.
  var ground: ReadingConnection.Ground?
  /// The session's number among active readers (`ExternalReaders`), while a store with external files is read.
  var reader: UInt64?
  /// The time that a statement waits for locks.
  private let busyTimeout: Duration
  /// Whether commits are synchronized (`SQLiteStoreOptions.synchronizesFully`).
  private let synchronizesFully: Bool
  /// In bytes.
  private let cacheSize: Int
  /// For a reading connection, the schema version that was accepted, and the data version at that time.
  private var schema: (version: Int64, data: UInt32)?
  /// Whether the journal mode is decided.
  private var hasEnabledLog = false
  /// Whether `sizeCache` ran.
  private var hasSizedCache = false
  /// The time of the last check that the file is in its place.
  private var lastLook = ContinuousClock.now
  /// For the writing connection, the last places of ordered lists.
  let orderEnds = OrderEnds()
  /// The history tables, and the schema version at which they were read.
  private var history: (version: Int64?, form: HistoryForm?)?
  /// For the writing connection: rows whose derived values triggers set. `derivedColumns` are the derived attributes
  /// without triggers in the file.
  let derivedRows = DerivedRows()
  /// Nil until the session is prepared for writing.
  var derivedColumns: DerivedColumns?
  /// The functions of scripts, by generation.
  private var functions: [UInt64: RegisteredFunctions] = [:]

  /// SQLite compares each constant of a query with all others when it prepares the query, and this cannot be
  /// interrupted: 20,000 constants take a minute. Evaluation in memory is faster for longer lists. A row of the widest
  /// table has fewer values.
  private static let greatestParameterCount = 2500

  /// Whether function names of an outdated generation are registered. SQLite keeps memory for each name and each
  /// statement that used it, so the whole connection is closed.
  var isOutdated: Bool { functions.values.contains(where: \.isOutdated) }

  /// With `isLazy` nothing is read from the file yet: the first statement reads the schema, and the first write sets
  /// the cache size (`sizeCache`). Registers the functions for predicates and triggers, so that every statement of the
  /// store can be prepared.
  init(_ connection: Connection, options: SQLiteStoreOptions, isLazy: Bool = false) throws {
    self.connection = connection
    (busyTimeout, synchronizesFully) = (options.busyTimeout, options.synchronizesFully)
    cacheSize = options.cacheSize
    options.sqlLog?.follow(connection)
    connection.setBusyTimeout(milliseconds: busyTimeout.milliseconds)
    if !isLazy { try sizeCache() }
    connection.limitParameters(to: Self.greatestParameterCount)
    // Reports a damaged page when it is read.
    try connection.execute("PRAGMA cell_size_check = 1")
    try PredicateFunctions.register(on: connection)
    try TriggerFunctions.register(on: connection, telling: derivedRows)
  }

  /// Sets the cache size. SQLite's 2 MiB are too few for the pages of a large save, whose indexes are scattered, and
  /// for queries that follow relationships. In a script the cache takes at most a quarter of the memory limit. Runs
  /// once; later calls do nothing.
  func sizeCache() throws {
    guard !hasSizedCache else { return }
    try connection.execute("PRAGMA cache_size = -\(min(max(0, cacheSize) >> 10, HostWork.greatestValue >> 12))")
    hasSizedCache = true
  }

  /// Registers the functions of a provider with SQL, once for each generation. Calls of scripts' functions in a
  /// predicate refer to these names.
  func register(_ provider: any PureFunctionProvider) throws {
    if functions[provider.generation] != nil { return }
    functions[provider.generation] = try RegisteredFunctions(provider, on: connection)
  }

  /// Notes that the current tables are those that the store knows. Call this after the schema was checked.
  func noteSchema() throws { schema = (try connection.schemaVersion(), connection.dataVersion) }

  /// Whether the tables are still those, as of the last statement. Checked only after another connection has written.
  /// Cheap: the data version is in memory. A nil schema, as of a writing connection, counts as known.
  func hasKnownTables() -> Bool {
    guard let known = schema else { return true }
    let data = connection.dataVersion
    if data == known.data { return true }
    guard let version = try? connection.schemaVersion(), version == known.version else { return false }
    schema = (version, data)
    return true
  }

  /// Whether the data read until now is consistent. False after a change of the tables by another program.
  func isSound(_ file: StoreFile) -> Bool {
    guard hasKnownTables() else { return false }
    guard let ground else { return true }
    return ReadingConnection(connection: connection, ground: ground).isSound(file)
  }

  /// Whether an error concerns the data itself (`ReadingConnection`). If not, repeat the reading with another
  /// connection.
  func isSound(_ file: StoreFile, after error: any Error) -> Bool {
    guard isSound(file) else { return false }
    return ground.map { ReadingConnection(connection: connection, ground: $0).isSound(file, after: error) } ?? true
  }

  /// Whether the connection may read for long, without blocking writers or seeing their changes. False for connections
  /// without a snapshot: a file in rollback mode, and files that are read without locks.
  var canBeHeldOpen: Bool {
    switch ground {
    case nil: connection.usesWriteAheadLog
    case .index: true
    case .journal, .silence: false
    }
  }

  /// The longest time that a connection reads rows by key without a check of its file.
  private static let greatestBlindness = Duration.milliseconds(50)

  /// Whether the file is known to have moved. `looking` checks now; otherwise the last check may be a moment old.
  /// SQLite itself keeps reading the former file after a rename or a deletion.
  func hasMoved(looking: Bool) -> Bool {
    let now = ContinuousClock.now
    guard looking || now - lastLook > Self.greatestBlindness else { return false }
    if connection.hasMoved { return true }
    lastLook = now
    return false
  }

  /// Gives the file a write-ahead log, before the first save and when a store is made. Where a log is not possible, or
  /// the file is being read, the rollback journal is used. Does not wait for locks. Without a log the next save tries
  /// again.
  func enableLog() throws {
    guard !hasEnabledLog else { return }
    connection.setBusyTimeout(milliseconds: 0)
    defer { connection.setBusyTimeout(milliseconds: busyTimeout.milliseconds) }
    do {
      // With a log a save is atomic at a lower synchronization level; with a journal it is not.
      let isLogged = try connection.text("PRAGMA journal_mode = WAL") == "wal"
      try connection.execute("PRAGMA synchronous = \(isLogged && !synchronizesFully ? "NORMAL" : "FULL")")
      hasEnabledLog = true
    } catch let error as SQLiteError where [.busy, .locked].contains(error.code.primary) {}
  }

  /// The history of the file. Looked up within the transaction that writes it, because another process may have enabled
  /// a history. Cached by the schema's version. Nil for a file without a history.
  func historyForm(path: String) throws -> HistoryForm? {
    let version = try connection.integer("PRAGMA schema_version")
    if let history, history.version == version { return history.form }
    let form = try HistoryForm(connection, path: path)
    history = (version, form)
    return form
  }

  /// Reports each statement to an observer, for tests that count statements. `observer` is called on the connection's
  /// thread.
  func observe(with observer: StatementObserver) {
    connection.onStatement = { observer.note($0) }
  }
}
