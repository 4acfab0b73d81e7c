public import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
package import MoonbaseSQLite

/// Reading for the graph, and rows by key.
extension SQLiteStore {
  /// The number of keys in one statement. A list of this length is one JSON array or 512 parameters.
  static let chunk = 512

  /// Begins a session for reading. A view sees one state of the file until it ends. Throws `.invalidRequest` for a
  /// closed store.
  public func beginReading(_ extent: ReadScope) throws -> any ReadSession { try SQLiteReadSession(self, extent) }

  /// The rows of objects, by their keys. In no particular order; rows that do not exist are left out. The IDs are
  /// grouped by table.
  func snapshots(of ids: [ManagedObjectID], in session: Session) throws -> [Snapshot] {
    try layout.snapshots(of: ids, in: number, rows: rowPlan) { try $0.snapshots(of: $1, in: session) }
  }
}

extension RowPlan: SelectedRows {
  /// The rows of objects, by their keys.
  fileprivate func snapshots(of ids: [ManagedObjectID], in session: Session) throws -> [Snapshot] {
    let rows = RowCollector(store: store)
    for start in stride(from: 0, to: ids.count, by: SQLiteStore.chunk) {
      let keys = ContiguousArray(ids[start..<min(start + SQLiteStore.chunk, ids.count)].lazy.map(\.key))
      if let range = Self.denseRange(keys) {
        try collect(keys, in: range, session: session, into: rows)
      } else {
        try collect(keys, session: session, into: rows)
      }
    }
    return Array(rows.finish())
  }

  /// The row with a key. Nil if there is no row.
  func snapshot(of key: Int64, in session: Session) throws -> Snapshot? {
    let statement = try pointStatement(session.connection)
    statement.bind(key, at: 1)
    defer { statement.reset() }
    return try statement.step() ? try snapshot(statement) : nil
  }

  /// The number of keys below which keys are looked up individually. Looking up one key is about as fast as one step of
  /// a scan.
  private static let fewKeys = 16

  /// The range of ascending keys, where at most as many other keys lie between them: a scan is then faster than
  /// lookups. Nil for keys that are not ascending, for few keys, and for sparse keys.
  private static func denseRange(_ keys: ContiguousArray<Int64>) -> ClosedRange<Int64>? {
    guard keys.count >= fewKeys, let first = keys.first, let last = keys.last, first <= last else { return nil }
    let (span, overflow) = last.subtractingReportingOverflow(first)
    guard !overflow, span < 2 * Int64(keys.count), zip(keys, keys.dropFirst()).allSatisfy({ $0 < $1 }) else {
      return nil
    }
    return first...last
  }
}

/// Reading only object IDs, and rows of many keys.
extension RowPlan {
  /// The columns that are read for an ID. For a table with one entity the entity number is not read, as in Core Data:
  /// SQLite then need not read the row itself.
  var keyColumns: [String] { isSingle ? ["t0.Z_PK"] : ["t0.Z_PK", "t0.Z_ENT"] }

  /// Reads the IDs of a statement that begins with `keyColumns`, up to a count. Returns whether there may be more.
  /// Throws `.invalidStore` for a row without an integer key.
  func collectIDs(_ statement: Statement, upTo count: Int) throws -> (ids: IDList, mayGoOn: Bool) {
    guard isSingle else { return try collectMixedIDs(statement, upTo: count) }
    var keys: [Int64] = []
    keys.reserveCapacity(min(count, RowPage.capacity))
    let mayGoOn = try statement.step(addingIntegersTo: &keys, upTo: count)
    guard let mayGoOn else { throw noKey(statement.isNull(0) ? "NULL" : statement.text(0)) }
    try HostWork.charge(keys.count)
    return (ids(of: keys), mayGoOn)
  }

  /// For tables of several entities.
  private func collectMixedIDs(_ statement: Statement, upTo count: Int) throws -> (ids: IDList, mayGoOn: Bool) {
    var ids = IDList()
    while ids.count < count {
      guard try statement.step() else { return (ids, false) }
      try HostWork.charge()
      ids.append(try id(statement))
    }
    return (ids, true)
  }

  /// Reads the rows with these keys. The number of parameters is rounded up, so that one statement serves many lists.
  fileprivate func collect(_ keys: ContiguousArray<Int64>, session: Session, into rows: RowCollector) throws {
    let statement = try session.connection.statement(select.select(keyCount: keys.count.roundedUpToPowerOfTwo))
    for (index, key) in keys.enumerated() { statement.bind(key, at: Int32(index + 1)) }
    defer { statement.reset() }
    _ = try collect(statement, into: rows)
  }

  /// Reads the rows with ascending keys, by a scan of their range. Rows between the keys are skipped without decoding.
  fileprivate func collect(
    _ keys: ContiguousArray<Int64>, in range: ClosedRange<Int64>, session: Session, into rows: RowCollector
  ) throws {
    let statement = try rangeStatement(session.connection)
    statement.bind(range.lowerBound, at: 1)
    statement.bind(range.upperBound, at: 2)
    defer { statement.reset() }
    var next = 0
    _ = try collect(statement, into: rows) { row in
      let key = row.integer(0)
      while next < keys.count, keys[next] < key { next += 1 }
      return next < keys.count && keys[next] == key
    }
  }
}

/// Collecting values that a query selects instead of rows.
extension RowCollector {
  /// Calls `read` for each row of a statement, up to a number of rows or bytes. Returns whether there may be more rows.
  /// Charges rows and bytes to a running script.
  @inline(__always)
  func collect(
    _ statement: Statement, limit: Int, weight greatest: Int, _ read: () throws -> Void
  ) throws -> Bool {
    var memory = HostMemory()
    var held = weight
    while count < limit, held < greatest {
      guard try statement.step() else { return false }
      try HostWork.charge()
      try read()
      let weight = weight
      try memory.hold(weight - held)
      held = weight
    }
    return true
  }
}

/// Statements of queries, on any connection.
extension Session {
  /// A statement that is ready for its first row. Scripts' functions of the query are registered, and the values are
  /// bound.
  func statement(_ sql: SQLFragment, for query: StoreQuery) throws -> Statement {
    if let functions = query.functions { try register(functions) }
    let statement = try connection.statement(sql.text)
    for (index, value) in sql.values.enumerated() { SQLValue.bind(value, at: Int32(index + 1), to: statement) }
    return statement
  }

  /// Runs the statement of a query, and resets it. The statement is reset also on an error.
  package func running<Result>(
    _ sql: SQLFragment, for query: StoreQuery, _ body: (Statement) throws -> Result
  ) throws -> Result {
    let statement = try statement(sql, for: query)
    defer { statement.reset() }
    return try body(statement)
  }
}

extension Int {
  /// The lengths that statements are prepared for, so that few statements serve all lengths of a list. Unbound
  /// parameters are NULL and match nothing. For example, 3 becomes 4, and 4 stays.
  var roundedUpToPowerOfTwo: Int { self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount) }
}
