internal import MoonbaseCSQLite
internal import MoonbasePlatform

/// A connection to a database. It is confined: a single thread at a time may use it and its statements.
///
/// ```swift
/// let connection = try Connection("people.sqlite")
/// try connection.execute("CREATE TABLE person (name TEXT, age INTEGER)")
/// try connection.transaction {
///   try connection.execute("INSERT INTO person VALUES ('Ann', 32)")
/// }
/// ```
///
/// Statements are cached by their text; the connection owns the cache, and statements keep the database open until they
/// are released. Errors of functions, limits of scripts and cancellations of tasks end a running statement and are
/// thrown by its step.
public final class Connection {
  /// SQLite's pointer, valid as long as `database` lives.
  let handle: OpaquePointer
  /// Closes the database.
  let database: DatabaseHandle
  /// Keeps SQLite from following links to the database's files while the connection lives.
  private let unlinked: LinkFreeFiles.Hold?
  /// The cache, by text.
  private var statements: [String: Statement] = [:]
  /// The cached statements with a number.
  private var hotStatements: ContiguousArray<Statement?> = []
  /// The most cached statements, and the most bytes of their text.
  private static let greatestCache = (count: 128, length: 1 << 20)
  /// The bytes of the texts in the cache.
  private var cachedLength = 0
  /// A counter of requested statements.
  private var uses = 0
  /// The error that a Swift function threw while SQLite ran it, rethrown by the calling step.
  var functionError: (any Error)?
  /// The scope of the functions called by the current step.
  var callScope: (any CallScope)?
  /// The identity of `callScope`, compared at every call and every row.
  @exclusivity(unchecked) var callScopeID: ObjectIdentifier?
  /// The number of statements begun. Tests check it.
  package private(set) var statementCount = 0
  /// Whether the running statement is not counted.
  private var isSilent = false { didSet { tracing?.isSilent = isSilent } }
  /// The receiver of ended statements.
  var tracing: Tracing?
  /// Whether the running statement must not be stopped for the limits of a script.
  var isUnstoppable = false
  /// The remaining work allowed to triggers of the file; nil without a limit. And whether the file has triggers, for a
  /// schema version.
  var triggerBound: TriggerBound?
  /// The schema version decides whether the file is searched for triggers again.
  var knownTriggers: (version: Int64, areThere: Bool)?
  /// Whether the result of the running statement is no longer wanted, called during the statement. The statement then
  /// ends with `CancellationError`.
  package var isCancelled: (() -> Bool)?
  /// The most bytes of a value that SQLite reads or accepts, unless a script sets a lower limit.
  public var greatestValue = Connection.greatestValue
  /// The limit last set in SQLite.
  var valueBound: Int32 = 0
  /// The time in milliseconds that a statement waits for a lock, and the beginning of the current wait.
  var patience = 0
  var waitingSince = ContinuousClock.now
  /// Called when the file is closed, which statements of the connection delay until they are released.
  package var onClose: (@Sendable () -> Void)? {
    get { database.onClose.withLock { $0 } }
    set { database.onClose.withLock { $0 = newValue } }
  }
  /// Receives each statement as it begins.
  package var onStatement: ((String) -> Void)?

  /// The options for opening a database.
  public struct Mode: OptionSet, Sendable {
    /// SQLite's bits.
    public let rawValue: Int32
    /// A mode from SQLite's bits.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Opens the file for reading only.
    public static let readOnly = Self(rawValue: SQLITE_OPEN_READONLY)
    /// Opens an existing file for reading and writing.
    public static let readWrite = Self(rawValue: SQLITE_OPEN_READWRITE)
    /// Creates a missing file.
    public static let create = Self(rawValue: SQLITE_OPEN_CREATE | SQLITE_OPEN_READWRITE)
    /// The name is a `file:` URI with parameters.
    public static let uri = Self(rawValue: SQLITE_OPEN_URI)
    /// The path has no links, and links placed in it later are not followed.
    public static let withoutLinks = Self(rawValue: SQLITE_OPEN_NOFOLLOW)
  }

  /// Opens a database: a path, `:memory:`, or a URI with mode `.uri`.
  ///
  /// The file may be untrusted. Its triggers and views can call only functions registered with `.innocuous`, up to
  /// `greatestTriggerDepth`, and SQL cannot write the schema or the shadow tables of virtual tables. `trustsSchema`
  /// allows all of this.
  ///
  /// Throws `SQLiteError` as `sqlite3_open_v2` reports it. SQLite reads the file only with the first statement.
  public init(_ name: String, mode: Mode = .create, trustsSchema: Bool = false) throws {
    unlinked = mode.contains(.withoutLinks) ? LinkFreeFiles.Hold(Self.path(of: name, mode)) : nil
    var opened: OpaquePointer?
    let flags = mode.rawValue | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(name, &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      let error = SQLiteError(connection: opened, code: code)
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    database = DatabaseHandle(opened)
    installLimits()
    if !trustsSchema { distrustSchema() }
  }

  /// The path in a name, which may be a URI.
  private static func path(of name: String, _ mode: Mode) -> String {
    guard mode.contains(.uri), name.hasPrefix("file:") else { return name }
    let place = name.dropFirst("file:".count).prefix { $0 != "?" }
    return String(place.hasPrefix("//") ? place.dropFirst(2) : place).removingPercentEncoding ?? name
  }

  deinit {
    if tracing != nil { sqlite3_trace_v2(handle, 0, nil, nil) }
    // Statements are released first; a statement that is still in use keeps the database open.
    (statements, hotStatements) = ([:], [])
  }

  /// Sets the time that a statement waits for a lock before it fails with `.busy`.
  public func setBusyTimeout(milliseconds: Int) { patience = milliseconds }

  /// The statement with this text, reset and without bindings. Prepared once and cached until many others were
  /// requested since.
  ///
  /// If the cached statement is stepping already, another one is prepared. Throws for a text with several statements,
  /// or none.
  public func statement(_ sql: String) throws -> Statement {
    uses += 1
    boundValues()
    if let known = statements[sql] {
      known.lastUse = uses
      if !known.isRunning { return known }
      return try Statement(self, sql: sql, isCached: false)
    }
    let length = sql.utf8.count
    // A statement that would displace many others is not cached.
    guard length <= Self.greatestCache.length / 4 else { return try Statement(self, sql: sql, isCached: false) }
    let new = try Statement(self, sql: sql, isCached: true)
    new.lastUse = uses
    while statements.count >= Self.greatestCache.count || cachedLength + length > Self.greatestCache.length {
      forgetOldestStatement()
    }
    statements[sql] = new
    cachedLength += length
    return new
  }

  /// The statement with this text, identified by a small number to avoid the lookup of its text. The number must not be
  /// used for another text of the same connection.
  public func statement(hot number: Int, _ sql: String) throws -> Statement {
    if number < hotStatements.count, let known = hotStatements[number], !known.isRunning {
      assert(known.sql == sql)
      uses += 1
      boundValues()
      known.lastUse = uses
      return known
    }
    let found = try statement(sql)
    guard statements[sql] === found else { return found }
    while hotStatements.count <= number { hotStatements.append(nil) }
    hotStatements[number] = found
    return found
  }

  /// Removes the least recently requested statement from the cache. Its current users may finish with it.
  private func forgetOldestStatement() {
    guard let oldest = statements.values.min(by: { $0.lastUse < $1.lastUse }) else { return cachedLength = 0 }
    statements[oldest.sql] = nil
    for number in hotStatements.indices where hotStatements[number] === oldest { hotStatements[number] = nil }
    cachedLength -= oldest.sql.utf8.count
  }

  /// Runs a statement without result rows.
  public func execute(_ sql: String) throws {
    try statement(sql).run()
  }

  /// Runs several statements separated by semicolons, without caching them.
  public func executeScript(_ sql: String) throws {
    note(sql)
    guard !sql.utf8.contains(0) else {
      throw SQLiteError(.error, message: "the text ends early, at a zero byte", sql: sql)
    }
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw error(code, sql: sql) }
  }

  /// Runs `body` in a transaction that acquires the write lock immediately. An error rolls it back.
  ///
  /// The body may not begin another transaction. Throws `.busy` if the lock is not available within the busy timeout.
  public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try begin()
    do {
      let result = try body()
      try commit()
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  /// Begins a transaction that acquires the write lock immediately. Fails with `.busy` after the busy timeout.
  public func begin() throws { try execute("BEGIN IMMEDIATE") }

  /// Commits the transaction. After a failure it must be rolled back. Not interrupted by limits or cancellation.
  public func commit() throws {
    triggerBound = nil
    try unstoppably("COMMIT")
  }

  /// Rolls the transaction back, unless SQLite has done so. Never throws: an error leaves nothing to roll back.
  public func rollBack() {
    triggerBound = nil
    if isInTransaction { try? unstoppably("ROLLBACK") }
  }

  /// Sets whether closing leaves the write-ahead log and its index in place, instead of copying the log into the
  /// database and removing both. Used for files that other processes open at the same time.
  public func setLeavesLog(_ leavesLog: Bool) {
    moonbase_leave_log(handle, leavesLog ? 1 : 0)
  }

  /// Begins a read transaction and fixes the state of the file that its statements see. Not counted as a statement.
  /// Until `endReading` all statements see the same state, whatever other connections commit.
  public func beginReading() throws {
    isSilent = true
    defer { isSilent = false }
    try execute("BEGIN")
    do {
      _ = try integer("PRAGMA schema_version")
    } catch {
      endReading()
      throw error
    }
  }

  /// Ends a read transaction. Running statements keep its state until they are reset.
  public func endReading() {
    isSilent = true
    defer { isSilent = false }
    rollBack()
  }

  /// Whether the file was moved, replaced or deleted since it was opened, so that written data would be lost.
  public var hasMoved: Bool {
    var answer: Int32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &answer)
    return code == SQLITE_OK && answer != 0
  }

  /// Whether the file's header says that it uses a write-ahead log. Reads neither locks nor the log.
  public var usesWriteAheadLog: Bool {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
      let read = file.pointee.pMethods?.pointee.xRead
    else { return false }
    // The read version number of the file format.
    var format: UInt8 = 0
    return read(file, &format, 1, 19) == SQLITE_OK && format == 2
  }

  /// Whether a transaction is open.
  public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// The declared type and the collation of a column; nil if there is no such column.
  public func declaration(of column: String, in table: String) -> (type: String, collation: String)? {
    var type: UnsafePointer<CChar>?
    var collation: UnsafePointer<CChar>?
    let code = sqlite3_table_column_metadata(handle, "main", table, column, &type, &collation, nil, nil, nil)
    guard code == SQLITE_OK else { return nil }
    return (type.map { String(cString: $0) } ?? "", collation.map { String(cString: $0) } ?? "BINARY")
  }

  /// The number of rows changed by the last statement, without those changed by triggers.
  public var changes: Int { Int(sqlite3_changes64(handle)) }

  /// The first column of the first row as an integer; nil without a row, and for NULL.
  public func integer(_ sql: String) throws -> Int64? {
    let statement = try statement(sql)
    defer { statement.reset() }
    return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
  }

  /// The first column of the first row as text; nil without a row, and for NULL.
  public func text(_ sql: String) throws -> String? {
    let statement = try statement(sql)
    defer { statement.reset() }
    return try statement.step() && !statement.isNull(0) ? statement.text(0) : nil
  }

  /// A number that changes when another connection has written, as seen by the last statement that read. Reads memory
  /// only.
  public var dataVersion: UInt32 {
    var version: UInt32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return code == SQLITE_OK ? version : 0
  }

  /// The size and the number of pages according to the file's header, ignoring the log; nil without a header. Acquires
  /// no lock.
  public var statedPages: (size: Int, count: Int)? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
      let read = file.pointee.pMethods?.pointee.xRead
    else { return nil }
    var head = [UInt8](repeating: 0, count: 100)
    guard read(file, &head, 100, 0) == SQLITE_OK else { return nil }
    func number(_ places: Range<Int>) -> Int { head[places].reduce(0) { $0 << 8 | Int($1) } }
    // 65,536 does not fit in two bytes. The count is valid only if the same program wrote it and the change counter.
    return head[24..<28] == head[92..<96] ? (number(16..<18) == 1 ? 65_536 : number(16..<18), number(28..<32)) : nil
  }

  /// The size and the number of pages. Not counted as a statement.
  public func pages() throws -> (size: Int, count: Int) {
    try silently {
      // The first statement reads the file's header, which contains the page size.
      let count = try integer("PRAGMA page_count") ?? 0
      return (Int(try integer("PRAGMA page_size") ?? 0), Int(count))
    }
  }

  /// The schema version, which increases with each change of tables. Not counted as a statement, because it is in a
  /// page that every reader has.
  public func schemaVersion() throws -> Int64 {
    try silently { try integer("PRAGMA schema_version") ?? 0 }
  }

  /// A number that changes when another connection commits, and not with commits of this connection. Not counted as a
  /// statement.
  public func versionByOthers() throws -> Int64 {
    try silently { try integer("PRAGMA data_version") ?? 0 }
  }

  /// Runs statements that are neither counted nor reported.
  func silently<Result>(_ body: () throws -> Result) rethrows -> Result {
    isSilent = true
    defer { isSilent = false }
    return try body()
  }

  /// Counts a statement and reports it to `onStatement`.
  func note(_ sql: String) {
    if isSilent { return }
    statementCount += 1
    onStatement?(sql)
  }

  /// The error of a failed call: that of a Swift function, or of the run or task that ended, else SQLite's.
  func error(_ code: Int32, sql: String?) -> any Error {
    defer { functionError = nil }
    if let functionError { return functionError }
    if let overrun = triggerOverrun(sql) { return overrun }
    let error = SQLiteError(connection: handle, code: code, sql: sql)
    guard [.interrupted, .busy].contains(error.code.primary) else { return error }
    if HostWork.isOver { return HostWork.ending() }
    return Task.isCancelled || isCancelled?() == true ? CancellationError() : error
  }
}
