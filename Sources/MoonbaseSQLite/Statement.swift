internal import MoonbaseCSQLite
public import MoonbasePlatform

/// A prepared statement of a connection, confined like the connection. Columns count from 0, parameters from 1.
///
/// ```swift
/// let statement = try connection.statement("SELECT name FROM person WHERE age > ?")
/// statement.bind(Int64(30), at: 1)
/// while try statement.step() { print(statement.text(0)) }
/// ```
///
/// Get statements from `Connection.statement(_:)`, which caches them. A statement is bound, stepped to its end and
/// reset; `run()` does all of it for statements without rows.
public final class Statement {
  /// The text.
  public let sql: String
  /// The number of columns.
  public let columnCount: Int32
  /// Whether the statement has begun and was not reset. Read for every row.
  @exclusivity(unchecked) public private(set) var isRunning = false
  /// The connection's counter at the last request.
  var lastUse = 0

  /// Constant, because a variable would be checked for exclusive access at every column of every row.
  private let handle: OpaquePointer?
  /// Whether the statement changes the database and may fire triggers.
  private let writes: Bool
  private unowned let connection: Connection
  /// Keeps the database open until the statement is finalized.
  private let database: DatabaseHandle
  /// The error of binding a parameter, thrown by the next step. SQLite itself would use NULL.
  private var bindingFailure: Int32 = SQLITE_OK

  /// Prepares the text. `isCached` tells SQLite that the statement will be kept. Throws SQLite's error for invalid SQL.
  init(_ connection: Connection, sql: String, isCached: Bool) throws {
    self.connection = connection
    database = connection.database
    self.sql = sql
    let flags = isCached ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    var prepared: OpaquePointer?
    var end = 0
    let code = sql.withCString { text in
      var tail: UnsafePointer<CChar>?
      let code = sqlite3_prepare_v3(connection.handle, text, -1, flags, &prepared, &tail)
      end = tail.map { $0 - text } ?? 0
      return code
    }
    handle = prepared
    columnCount = sqlite3_column_count(handle)
    writes = sqlite3_stmt_readonly(handle) == 0
    if code != SQLITE_OK { throw connection.error(code, sql: sql) }
    try Self.check(sql, isEmpty: prepared == nil, end: end)
  }

  /// Throws unless the text is a single statement. SQLite would silently ignore further statements.
  private static func check(_ sql: String, isEmpty: Bool, end: Int) throws {
    if isEmpty { throw SQLiteError(.error, message: "there is no statement in the text", sql: sql) }
    guard let rest = SQLText.rest(of: sql, from: end) else { return }
    throw SQLiteError(
      .error, message: "one statement was expected, and another one follows: \(rest); run several with executeScript",
      sql: sql)
  }

  deinit { sqlite3_finalize(handle) }

  /// Advances to the next row. Returns false when there is none. The statement is reset at the end and after an error.
  /// Throws `SQLiteError`, the error of a called function, `CancellationError`, or the end of a script's run.
  @discardableResult
  public func step() throws -> Bool {
    if !isRunning {
      if bindingFailure != SQLITE_OK {
        defer { reset() }
        throw SQLiteError(
          .init(rawValue: bindingFailure), message: String(cString: sqlite3_errstr(bindingFailure)), sql: sql)
      }
      isRunning = true
      connection.note(sql)
    }
    if writes { connection.beginWriting() }
    let code = sqlite3_step(handle)
    if connection.callScopeID != nil { connection.change(to: nil) }
    if writes { connection.endWriting() }
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE {
      rewind()
      return false
    }
    let error = connection.error(code, sql: sql)
    reset()
    throw error
  }

  /// Advances up to `count` rows and appends the first column of each, as an integer. Returns whether there may be more
  /// rows; nil at a row where the column is not an integer. Used to read many keys with few calls.
  public func step(addingIntegersTo numbers: inout [Int64], upTo count: Int) throws -> Bool? {
    for _ in 0..<count {
      guard try step() else { return false }
      guard let number = storedInteger(0) else { return nil }
      numbers.append(number)
    }
    return true
  }

  /// Runs the statement to its end and clears the bindings. Rows are ignored.
  public func run() throws {
    defer { reset() }
    while try step() {}
  }

  /// Ends the statement and keeps its bindings, to run it again or change single ones.
  public func rewind() {
    // A completed statement is reset already, and this is called for each row written.
    guard isRunning else { return }
    sqlite3_reset(handle)
    isRunning = false
  }

  /// Ends the statement and clears its bindings.
  public func reset() {
    rewind()
    sqlite3_clear_bindings(handle)
    bindingFailure = SQLITE_OK
  }
}

// MARK: - Parameters

extension Statement {
  /// Binds NULL.
  public func bindNull(_ index: Int32) { sqlite3_bind_null(handle, index) }

  /// Binds an integer.
  public func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, value) }

  /// Binds a floating-point number. NaN becomes NULL, because SQLite has no NaN.
  public func bind(_ value: Double, at index: Int32) { sqlite3_bind_double(handle, index, value) }

  /// Binds text, which SQLite copies.
  public func bind(_ value: String, at index: Int32) {
    let isBound: Void? = value.utf8.withContiguousStorageIfAvailable { bind(text: $0, at: index) }
    if isBound == nil {
      var copy = value
      copy.withUTF8 { bind(text: $0, at: index) }
    }
  }

  /// Binds UTF-8 text of some bytes.
  private func bind(text: UnsafeBufferPointer<UInt8>, at index: Int32) {
    text.withMemoryRebound(to: CChar.self) { bytes in
      guard let start = bytes.baseAddress else {
        sqlite3_bind_text(handle, index, "", 0, nil)
        return
      }
      note(sqlite3_bind_text64(handle, index, start, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8)))
    }
  }

  /// Notes a failure of binding, such as a value that is too large.
  private func note(_ code: Int32) {
    if code != SQLITE_OK { bindingFailure = code }
  }

  /// Binds bytes, which SQLite copies.
  public func bind(_ value: Data, at index: Int32) {
    value.withUnsafeBytes { bind(bytes: $0, at: index) }
  }

  /// Binds bytes, which SQLite copies.
  public func bind(bytes: UnsafeRawBufferPointer, at index: Int32) {
    if let start = bytes.baseAddress, bytes.count > 0 {
      note(sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), transient))
    } else {
      sqlite3_bind_zeroblob(handle, index, 0)
    }
  }

  /// Binds text that must stay valid until the statement has run, or the parameter is bound again.
  public func bind(keptText bytes: UnsafeRawBufferPointer, at index: Int32) {
    guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count > 0 else {
      sqlite3_bind_text(handle, index, "", 0, nil)
      return
    }
    note(sqlite3_bind_text64(handle, index, start, UInt64(bytes.count), nil, UInt8(SQLITE_UTF8)))
  }

  /// Binds bytes that must stay valid until the statement has run, or the parameter is bound again.
  public func bind(keptBytes bytes: UnsafeRawBufferPointer, at index: Int32) {
    guard let start = bytes.baseAddress, bytes.count > 0 else {
      sqlite3_bind_zeroblob(handle, index, 0)
      return
    }
    note(sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), nil))
  }
}

/// Tells SQLite to copy bound values.
nonisolated(unsafe) let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)  // compared, never called

// MARK: - Columns

extension Statement {
  /// Whether the statement does not change the database. It may change the connection, as `BEGIN` and `ATTACH` do.
  public var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

  /// The name of a column.
  public func columnName(_ column: Int32) -> String {
    sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
  }

  /// Whether a column of the current row is NULL.
  public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// The storage class of a column in the current row.
  public func storage(_ column: Int32) -> StorageClass {
    StorageClass(rawValue: sqlite3_column_type(handle, column)) ?? .null
  }

  /// A column as SQLite's value.
  @inline(__always)
  func value(_ column: Int32) -> OpaquePointer? { sqlite3_column_value(handle, column) }

  // Reading the storage class from the column's value is faster than from the statement. The value must stay on the
  // connection's thread.

  /// A column stored as an integer; nil otherwise.
  public func storedInteger(_ column: Int32) -> Int64? {
    let value = sqlite3_column_value(handle, column)
    return sqlite3_value_type(value) == SQLITE_INTEGER ? sqlite3_value_int64(value) : nil
  }

  /// A column stored as a number, as a floating-point number; nil otherwise.
  public func storedDouble(_ column: Int32) -> Double? {
    let value = sqlite3_column_value(handle, column)
    let type = sqlite3_value_type(value)
    return type == SQLITE_FLOAT || type == SQLITE_INTEGER ? sqlite3_value_double(value) : nil
  }

  /// A column stored as valid UTF-8 text; nil otherwise. Valid until the statement advances or the column is converted.
  public func storedText(_ column: Int32) -> UnsafeRawBufferPointer? {
    let value = sqlite3_column_value(handle, column)
    guard sqlite3_value_type(value) == SQLITE_TEXT, let start = sqlite3_value_text(value) else { return nil }
    let text = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    return text.isUTF8 ? text : nil
  }

  /// A column stored as text, in UTF-8 that may be invalid; nil otherwise. Valid until the statement advances or the
  /// column is converted.
  public func storedTextBytes(_ column: Int32) -> UnsafeRawBufferPointer? {
    let value = sqlite3_column_value(handle, column)
    guard sqlite3_value_type(value) == SQLITE_TEXT, let start = sqlite3_value_text(value) else { return nil }
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
  }

  /// Whether a column is not text, or text that is valid in UTF-16, the encoding of its database.
  public func isWellFormedUTF16(_ column: Int32) -> Bool {
    let value = sqlite3_column_value(handle, column)
    guard sqlite3_value_type(value) == SQLITE_TEXT, let start = sqlite3_value_text16(value) else { return true }
    let count = Int(sqlite3_value_bytes16(value))
    let units = UnsafeRawBufferPointer(start: start, count: count).assumingMemoryBound(to: UInt16.self)
    return count % 2 == 0 && String(validating: units, as: UTF16.self) != nil
  }

  /// A column stored as bytes; nil otherwise. Valid until the statement advances or the column is converted.
  public func storedBytes(_ column: Int32) -> UnsafeRawBufferPointer? {
    let value = sqlite3_column_value(handle, column)
    guard sqlite3_value_type(value) == SQLITE_BLOB else { return nil }
    return UnsafeRawBufferPointer(start: sqlite3_value_blob(value), count: Int(sqlite3_value_bytes(value)))
  }

  /// A column as an integer, converted by SQLite; 0 for NULL.
  public func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  /// A column as a floating-point number, converted by SQLite; 0 for NULL.
  public func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  /// A column as text; empty for NULL, with invalid UTF-8 repaired.
  public func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(handle, column) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// A column's bytes, copied; empty for NULL.
  public func data(_ column: Int32) -> Data {
    withBytes(column) { bytes in bytes.baseAddress.map { Data(bytes: $0, count: bytes.count) } ?? Data() }
  }

  /// Calls `body` with a column's bytes in SQLite's memory, which are valid in `body` only.
  public func withBytes<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    let start = sqlite3_column_blob(handle, column)
    return try body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }
}
