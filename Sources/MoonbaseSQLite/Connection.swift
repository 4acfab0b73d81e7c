internal import MoonbaseCSQLite
internal import MoonbasePlatform

/// A connection to a database. It is confined: one thread at a time may use it, and its statements with it.
///
/// ```swift
/// let connection = try Connection("people.sqlite")
/// try connection.execute("CREATE TABLE person (name TEXT, age INTEGER)")
/// try connection.transaction {
///   try connection.execute("INSERT INTO person VALUES ('Ann', 32)")
/// }
/// ```
public final class Connection {
  let handle: OpaquePointer
  /// As long as the connection lives, SQLite follows no links to its files.
  private let unlinked: LinkFreeFiles.Hold?
  private var statements: [String: Statement] = [:]
  /// Those among them that are asked for by a number.
  private var hotStatements: ContiguousArray<Statement?> = []
  /// How many statements are kept, and how much text they may have together. A program needs few and short ones.
  private static let greatestCache = (count: 128, length: 1 << 20)
  private var cachedLength = 0
  /// Grows with each statement that is asked for.
  private var uses = 0
  /// What a Swift function threw while SQLite ran it; rethrown by the step that called it.
  var functionError: (any Error)?
  /// The scope of the functions that the current step has called.
  var callScope: (any CallScope)?
  /// Which one that is. It is looked at with every call and every row.
  @exclusivity(unchecked) var callScopeID: ObjectIdentifier?
  /// How many statements were begun. Tests assert it.
  package private(set) var statementCount = 0
  /// Whether a statement runs that is not counted.
  private var isSilent = false { didSet { tracing?.isSilent = isSilent } }
  /// Who is told of each statement that ended.
  var tracing: Tracing?
  /// Whether a statement runs that must not be stopped for the limits of a script.
  var isUnstoppable = false
  /// What triggers of the file may still do; nil without a bound. And whether the file has triggers, as of a number of its tables.
  var triggerBound: TriggerBound?
  var knownTriggers: (version: Int64, areThere: Bool)?
  /// Whether nobody wants any more what a statement does: asked in its midst. The statement ends with `CancellationError` then.
  package var isCancelled: (() -> Bool)?
  /// The bytes of the greatest value that SQLite reads or takes, unless a script sets a limit.
  public var greatestValue = Connection.greatestValue
  /// The limit that SQLite was told.
  var valueBound: Int32 = 0
  /// How long a statement waits for a lock, in milliseconds, and since when one does.
  var patience = 0
  var waitingSince = ContinuousClock.now
  /// Called when the connection is closed.
  package var onClose: (@Sendable () -> Void)?
  /// Told each statement as it begins.
  package var onStatement: ((String) -> Void)?

  /// How a database is opened.
  public struct Mode: OptionSet, Sendable {
    /// SQLite's bits.
    public let rawValue: Int32
    /// Makes a mode from SQLite's bits.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Reading only.
    public static let readOnly = Self(rawValue: SQLITE_OPEN_READONLY)
    /// Reading and writing an existing file.
    public static let readWrite = Self(rawValue: SQLITE_OPEN_READWRITE)
    /// Making the file where there is none.
    public static let create = Self(rawValue: SQLITE_OPEN_CREATE | SQLITE_OPEN_READWRITE)
    /// The name is a `file:` URI with parameters.
    public static let uri = Self(rawValue: SQLITE_OPEN_URI)
    /// The path has no links, and none that is put into it is followed.
    public static let withoutLinks = Self(rawValue: SQLITE_OPEN_NOFOLLOW)
  }

  /// Opens a database: a path, `:memory:`, or a URI with mode `.uri`.
  ///
  /// A file may come from anywhere. Its triggers and views call no function that was registered without `.innocuous`, they do not go deeper than
  /// `greatestTriggerDepth`, and no SQL writes the schema or what virtual tables keep past SQLite. With `trustsSchema` all of that is allowed.
  ///
  /// Throws `SQLiteError` as `sqlite3_open_v2` reports it; SQLite looks into the file only with the first statement.
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
    // Statements go first; SQLite waits for one that is still held.
    (statements, hotStatements) = ([:], [])
    sqlite3_close_v2(handle)
    onClose?()
  }

  /// How long a statement waits for a lock before it fails with `.busy`.
  public func setBusyTimeout(milliseconds: Int) { patience = milliseconds }

  /// The statement of this text: prepared once, kept until too many others were asked for since, given out reset and unbound.
  ///
  /// A statement that is still stepping further up the stack is left alone and another one is prepared. Throws where the text
  /// holds several statements, or none.
  public func statement(_ sql: String) throws -> Statement {
    uses += 1
    boundValues()
    if let known = statements[sql] {
      known.lastUse = uses
      if !known.isRunning { return known }
      return try Statement(self, sql: sql, isCached: false)
    }
    let length = sql.utf8.count
    // One that would drive out many others is not kept.
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

  /// The same for a text that is asked for again and again: it has a small number, which stands for no other text as long as the
  /// connection lives, and no text is looked up.
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

  /// Lets go of the statement that was not asked for the longest. Who holds it can use it to its end.
  private func forgetOldestStatement() {
    guard let oldest = statements.values.min(by: { $0.lastUse < $1.lastUse }) else { return cachedLength = 0 }
    statements[oldest.sql] = nil
    for number in hotStatements.indices where hotStatements[number] === oldest { hotStatements[number] = nil }
    cachedLength -= oldest.sql.utf8.count
  }

  /// Runs a statement that returns no rows.
  public func execute(_ sql: String) throws {
    try statement(sql).run()
  }

  /// Runs several statements separated by semicolons, without keeping them.
  public func executeScript(_ sql: String) throws {
    note(sql)
    guard !sql.utf8.contains(0) else {
      throw SQLiteError(.error, message: "the text ends early, at a zero byte", sql: sql)
    }
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw error(code, sql: sql) }
  }

  /// Runs `body` in a transaction that takes the write lock at once; an error rolls all of it back.
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

  /// Begins a transaction that takes the write lock at once.
  public func begin() throws { try execute("BEGIN IMMEDIATE") }

  /// Commits the transaction; where that fails, it is still to be rolled back.
  public func commit() throws {
    triggerBound = nil
    try unstoppably("COMMIT")
  }

  /// Rolls the transaction back, unless SQLite did so itself.
  public func rollBack() {
    triggerBound = nil
    if isInTransaction { try? unstoppably("ROLLBACK") }
  }

  /// Whether closing leaves the write-ahead log and its index where and as they are, instead of writing the log's contents
  /// into the database and removing both.
  public func setLeavesLog(_ leavesLog: Bool) {
    moonbase_leave_log(handle, leavesLog ? 1 : 0)
  }

  /// Begins a transaction that only reads, and takes the state of the file that all its statements see. It is not counted as a statement.
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

  /// Ends a transaction that only read. Statements that still run keep its state until they are reset.
  public func endReading() {
    isSilent = true
    defer { isSilent = false }
    rollBack()
  }

  /// Whether the file was moved, replaced or deleted since it was opened: what is written now would not be found.
  public var hasMoved: Bool {
    var answer: Int32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &answer)
    return code == SQLITE_OK && answer != 0
  }

  /// Whether the file says of itself that it has a write-ahead log. Asks neither lock nor log: it looks at the file's head.
  public var usesWriteAheadLog: Bool {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
      let read = file.pointee.pMethods?.pointee.xRead
    else { return false }
    // The format's number for readers, as the file format has it.
    var format: UInt8 = 0
    return read(file, &format, 1, 19) == SQLITE_OK && format == 2
  }

  /// Whether a transaction is open.
  public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// What a table says of a column: the type it declares and how its texts are compared; nil without such a column.
  public func declaration(of column: String, in table: String) -> (type: String, collation: String)? {
    var type: UnsafePointer<CChar>?
    var collation: UnsafePointer<CChar>?
    let code = sqlite3_table_column_metadata(handle, "main", table, column, &type, &collation, nil, nil, nil)
    guard code == SQLITE_OK else { return nil }
    return (type.map { String(cString: $0) } ?? "", collation.map { String(cString: $0) } ?? "BINARY")
  }

  /// How many rows the last statement changed, triggers not counted.
  public var changes: Int { Int(sqlite3_changes64(handle)) }

  /// The first column of the first row as an integer; nil without a row or where it is NULL.
  public func integer(_ sql: String) throws -> Int64? {
    let statement = try statement(sql)
    defer { statement.reset() }
    return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
  }

  /// The first column of the first row as text; nil without a row or where it is NULL.
  public func text(_ sql: String) throws -> String? {
    let statement = try statement(sql)
    defer { statement.reset() }
    return try statement.step() && !statement.isNull(0) ? statement.text(0) : nil
  }

  /// A number that changes when another connection has written, as of the last statement that read: SQLite has it in memory.
  public var dataVersion: UInt32 {
    var version: UInt32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return code == SQLITE_OK ? version : 0
  }

  /// How large a page is, and how many there are, as the file's head says, whatever the log does; nil without one. Asks no lock.
  public var statedPages: (size: Int, count: Int)? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
      let read = file.pointee.pMethods?.pointee.xRead
    else { return nil }
    var head = [UInt8](repeating: 0, count: 100)
    guard read(file, &head, 100, 0) == SQLITE_OK else { return nil }
    func number(_ places: Range<Int>) -> Int { head[places].reduce(0) { $0 << 8 | Int($1) } }
    // 65,536 does not fit in its two bytes. The count is right where the same program wrote it and the number of changes.
    return head[24..<28] == head[92..<96] ? (number(16..<18) == 1 ? 65_536 : number(16..<18), number(28..<32)) : nil
  }

  /// How large a page is, and how many there are. Not counted as a statement.
  public func pages() throws -> (size: Int, count: Int) {
    try silently {
      // The first statement looks at the file's head, and so knows what a page is.
      let count = try integer("PRAGMA page_count") ?? 0
      return (Int(try integer("PRAGMA page_size") ?? 0), Int(count))
    }
  }

  /// The number of the database's tables, which goes up with each change of them. It stands in the page that every reader has, so
  /// that asking for it is not counted as a statement.
  public func schemaVersion() throws -> Int64 {
    try silently { try integer("PRAGMA schema_version") ?? 0 }
  }

  /// A number that changes when another connection has committed, and not with what this one commits. Not counted as a statement.
  public func versionByOthers() throws -> Int64 {
    try silently { try integer("PRAGMA data_version") ?? 0 }
  }

  /// Runs statements that are neither counted nor told.
  func silently<Result>(_ body: () throws -> Result) rethrows -> Result {
    isSilent = true
    defer { isSilent = false }
    return try body()
  }

  func note(_ sql: String) {
    if isSilent { return }
    statementCount += 1
    onStatement?(sql)
  }

  /// The error of a failed call: what a Swift function threw, if it was one, or the end of the run or task that it worked for, else
  /// SQLite's.
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
