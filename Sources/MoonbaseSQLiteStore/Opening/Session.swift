import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// A connection with what is registered on it. The pool or the writer's lock gives it to one thread at a time.
final class Session: @unchecked Sendable {  // the pool or the writer's lock confines it
  let connection: Connection
  /// For a connection that only reads: why what it reads can be believed.
  var ground: ReadingConnection.Ground?
  /// As long as it is read from, in a store with values in files: its number among those who do (`ExternalReaders`).
  var reader: UInt64?
  private let busyTimeout: Duration
  private let synchronizesFully: Bool
  private let cacheSize: Int
  /// For a connection that reads: the number of the tables that its rows are read by, and of what was written when that was looked at.
  private var schema: (version: Int64, data: UInt32)?
  private var hasSettledJournal = false
  private var hasSizedCache = false
  /// When it was found out last whether the file is still in its place.
  private var lastLook = ContinuousClock.now
  /// Of the writing connection: where ordered lists end.
  let orderEnds = OrderEnds()
  /// The history tables as the schema of this version had them.
  private var history: (version: Int64?, form: HistoryForm?)?
  /// Of the writing connection: rows whose derived values others set, and derived attributes that this connection sets itself.
  let derivedRows = DerivedRows()
  var derivedColumns: DerivedColumns?
  /// The functions of scripts, by generation.
  private var functions: [UInt64: RegisteredFunctions] = [:]

  /// SQLite compares each constant of a query with all others when it prepares one, and nothing stops it there: 20,000 take a minute.
  /// The context is faster with those. A row of the widest table has fewer.
  private static let greatestParameterCount = 2500

  /// Whether it has names of functions of a generation that cannot be asked for any more. SQLite keeps something of each
  /// name and each statement that ever had one, so the whole connection is given up then.
  var isOutdated: Bool { functions.values.contains(where: \.isOutdated) }

  /// With `isLazy` nothing is asked of the file yet: SQLite reads its tables with the first statement, and the cache gets its size with the
  /// first that writes (`sizeCache`).
  init(_ connection: Connection, options: SQLiteStoreOptions, isLazy: Bool = false) throws {
    self.connection = connection
    (busyTimeout, synchronizesFully) = (options.busyTimeout, options.synchronizesFully)
    cacheSize = options.cacheSize
    options.sqlLog?.follow(connection)
    connection.setBusyTimeout(milliseconds: busyTimeout.milliseconds)
    if !isLazy { try sizeCache() }
    connection.limitParameters(to: Self.greatestParameterCount)
    // A damaged page is an error when it is read, and not when something trips over it.
    try connection.execute("PRAGMA cell_size_check = 1")
    try PredicateFunctions.register(on: connection)
    try TriggerFunctions.register(on: connection, telling: derivedRows)
  }

  /// SQLite's 2 MiB are too few for the pages that one save of many objects touches (indexes are written all over), or one query that
  /// follows relationships. Of a script's memory they take a quarter at most.
  func sizeCache() throws {
    guard !hasSizedCache else { return }
    try connection.execute("PRAGMA cache_size = -\(min(max(0, cacheSize) >> 10, HostWork.greatestValue >> 12))")
    hasSizedCache = true
  }

  /// Makes the functions of a provider known to SQL, once for each generation.
  func register(_ provider: any PureFunctionProvider) throws {
    if functions[provider.generation] != nil { return }
    functions[provider.generation] = try RegisteredFunctions(provider, on: connection)
  }

  /// The tables as they are now are those that the store knows.
  func noteSchema() throws { schema = (try connection.schemaVersion(), connection.dataVersion) }

  /// Whether the tables are still those, as of the last statement. Looked at only where somebody has written since.
  func hasKnownTables() -> Bool {
    guard let known = schema else { return true }
    let data = connection.dataVersion
    if data == known.data { return true }
    guard let version = try? connection.schemaVersion(), version == known.version else { return false }
    schema = (version, data)
    return true
  }

  /// Whether what was read until now can be believed.
  func isSound(_ file: StoreFile) -> Bool {
    guard hasKnownTables() else { return false }
    guard let ground else { return true }
    return ReadingConnection(connection: connection, ground: ground).isSound(file)
  }

  /// Whether an error is one of what was read (`ReadingConnection`).
  func isSound(_ file: StoreFile, after error: any Error) -> Bool {
    guard isSound(file) else { return false }
    return ground.map { ReadingConnection(connection: connection, ground: $0).isSound(file, after: error) } ?? true
  }

  /// Whether it may read for long: it keeps no process from writing, and nothing that is written changes what it reads.
  var canBeHeldOpen: Bool {
    switch ground {
    case nil: connection.usesWriteAheadLog
    case .index: true
    case .journal, .silence: false
    }
  }

  /// So long a connection may read rows by their keys without a look at its file.
  private static let greatestBlindness = Duration.milliseconds(50)

  /// Whether the file is known not to be in its place any more. `looking` finds out now, otherwise the last look may be a moment old.
  func hasMoved(looking: Bool) -> Bool {
    let now = ContinuousClock.now
    guard looking || now - lastLook > Self.greatestBlindness else { return false }
    if connection.hasMoved { return true }
    lastLook = now
    return false
  }

  /// Before the first save, and when a store is made: gives the file a write-ahead log. Where it cannot have one, or is being read just now, the
  /// rollback journal does as well.
  func settleJournal() throws {
    guard !hasSettledJournal else { return }
    connection.setBusyTimeout(milliseconds: 0)
    defer { connection.setBusyTimeout(milliseconds: busyTimeout.milliseconds) }
    do {
      // A log makes a save whole with fewer waits for the disk; a journal does not.
      let isLogged = try connection.text("PRAGMA journal_mode = WAL") == "wal"
      try connection.execute("PRAGMA synchronous = \(isLogged && !synchronizesFully ? "NORMAL" : "FULL")")
      hasSettledJournal = true
    } catch let error as SQLiteError where [.busy, .locked].contains(error.code.primary) {}
  }

  /// The history that the file keeps, asked for within the transaction that writes it: another process may have
  /// switched it on.
  func historyForm(path: String) throws -> HistoryForm? {
    let version = try connection.integer("PRAGMA schema_version")
    if let history, history.version == version { return history.form }
    let form = try HistoryForm(connection, path: path)
    history = (version, form)
    return form
  }

  /// Tells an observer of each statement, for tests that count them.
  func observe(with observer: StatementObserver) {
    connection.onStatement = { observer.note($0) }
  }
}
