public import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// Reads the history tables of a file.
///
/// A value that is made for each request. Every method reads one consistent state in a read transaction of its own;
/// between two calls the history may grow or be deleted.
struct SQLiteHistory: StoreHistory {
  /// The store, whose connections are used.
  let store: SQLiteStore

  /// The first and last number of a transaction. The last is kept in `Z_PRIMARYKEY`, so it stays known after a
  /// deletion.
  func span() throws -> HistoryBounds {
    try reading { session, _ in
      let first = try session.connection.integer("SELECT MIN(Z_PK) FROM ATRANSACTION")
      let last = try session.connection.integer("SELECT MAX(Z_PK) FROM ATRANSACTION") ?? 0
      let given = try session.connection.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16002") ?? 0
      return HistoryBounds(first: first, last: max(last, given))
    } ?? HistoryBounds(first: nil, last: 0)
  }

  /// Ordered by number; a limit of 0 means no limit. Throws `.invalidStore` for damaged rows.
  func transactions(
    _ extent: HistoryRange, includingChanges: Bool, limit: Int
  ) throws -> [PersistentHistoryTransaction] {
    try reading { session, form in
      try HistoryReader(store: store, connection: session.connection, form: form)
        .transactions(extent, includingChanges: includingChanges, limit: limit)
    } ?? []
  }

  /// At most `limit` changes, with the place to go on (`HistoryPart.end`).
  func changes(of transactions: ClosedRange<Int64>, after change: Int64, limit: Int) throws -> HistoryPart {
    try reading { session, form in
      var memory = HostMemory()
      return try HistoryReader(store: store, connection: session.connection, form: form)
        .changes(of: transactions, after: change, limit: limit, &memory)
    } ?? HistoryPart()
  }

  /// The number of the first of the last `count` transactions. Nil if these are all.
  func number(ofLast count: Int) throws -> Int64? {
    guard count > 0 else { return nil }
    return try reading { session, _ in
      let first = try session.connection.integer(
        "SELECT Z_PK FROM ATRANSACTION ORDER BY Z_PK DESC LIMIT 1 OFFSET \(count - 1)")
      let isAll = try session.connection.integer("SELECT MIN(Z_PK) FROM ATRANSACTION") == first
      return isAll ? nil : first
    } ?? nil
  }

  /// Counts bytes as `PersistentHistoryTransaction.size` does. The number of the first of the last transactions that
  /// together have at most `count` bytes. Nil if these are all. The last transaction always counts.
  func number(ofLastBytes count: Int) throws -> Int64? {
    try reading { session, form in
      let (transaction, change) = (PersistentHistoryTransaction.sizeOfItself, PersistentHistoryChange.sizeOfItself)
      let kept = form.tombstoneColumns.map { " + " + Self.size(identifier($0)) }.joined()
      let statement = try session.connection.statement(
        """
        SELECT MIN(Z_PK) FILTER (WHERE total <= ?), MIN(Z_PK), MAX(Z_PK) FROM \
        (SELECT t.Z_PK, SUM(\(transaction) + IFNULL(c.size, 0)) OVER (ORDER BY t.Z_PK DESC) total FROM ATRANSACTION t \
        LEFT JOIN (SELECT ZTRANSACTIONID, SUM(\(change)\(kept)) size FROM ACHANGE GROUP BY 1) c ON c.ZTRANSACTIONID = t.Z_PK)
        """)
      statement.bind(Int64(count), at: 1)
      defer { statement.reset() }
      guard try statement.step(), !statement.isNull(1) else { return nil }
      let first = statement.isNull(0) ? statement.integer(2) : statement.integer(0)
      return first == statement.integer(1) ? nil : first
    } ?? nil
  }

  /// The bytes of a column's value as SQL: numbers count 8.
  private static func size(_ column: String) -> String {
    "CASE TYPEOF(\(column)) WHEN 'null' THEN 0 WHEN 'text' THEN LENGTH(CAST(\(column) AS BLOB)) "
      + "WHEN 'blob' THEN LENGTH(\(column)) ELSE 8 END"
  }

  /// Reads a consistent state of the tables. Returns nil where the tables no longer exist. Checks whether the file is
  /// still in its place.
  private func reading<Result>(_ body: (Session, HistoryForm) throws -> Result) throws -> Result? {
    try store.read(looksAtFile: true) { session in
      try session.connection.beginReading()
      defer { session.connection.endReading() }
      guard let form = try session.historyForm(path: store.file.path) else { return nil }
      return try body(session, form)
    }
  }
}

/// Access to the history, for the graph.
extension SQLiteStore {
  /// The history that the file keeps, if a program has enabled one. Looked up on each call, because another process may
  /// enable the history. Nil if the file has no history tables.
  public func history() throws -> (any StoreHistory)? {
    let tracksHistory = try read { try $0.historyForm(path: file.path) != nil }
    return tracksHistory ? SQLiteHistory(store: self) : nil
  }
}

/// Deleting the history.
extension SQLiteSaveSession {
  /// Deletes transactions with their changes and returns the number of transactions.
  func deleteHistory(_ extent: HistoryRange) throws -> Int {
    try run { session in
      guard try session.historyForm(path: store.file.path) != nil else { return 0 }
      let (condition, value) = extent.condition
      let changes = try session.connection.statement(
        "DELETE FROM ACHANGE WHERE ZTRANSACTIONID IN (SELECT t.Z_PK FROM ATRANSACTION t\(condition))")
      value?.bind(to: changes)
      try changes.run()
      let transactions = try session.connection.statement(
        "DELETE FROM ATRANSACTION WHERE Z_PK IN (SELECT t.Z_PK FROM ATRANSACTION t\(condition))")
      value?.bind(to: transactions)
      try transactions.run()
      return session.connection.changes
    } ?? 0
  }
}

/// Ranges of the history as SQL.
extension HistoryRange {
  /// The value that a condition compares with.
  ///
  /// Numbers and dates have different columns.
  fileprivate enum Comparand {
    /// A number of a transaction.
    case number(Int64)
    /// Seconds since 2001.
    case date(Double)

    /// Binds the first parameter.
    func bind(to statement: Statement) {
      switch self {
      case .number(let number): statement.bind(number, at: 1)
      case .date(let seconds): statement.bind(seconds, at: 1)
      }
    }
  }

  /// The condition in SQL, with the value of its parameter. Begins with a space; empty for all transactions. The table
  /// is `t`.
  fileprivate var condition: (sql: String, value: Comparand?) {
    switch self {
    case .all: ("", nil)
    case .after(let number): (" WHERE t.Z_PK > ?", .number(number))
    case .before(let number): (" WHERE t.Z_PK < ?", .number(number))
    case .afterDate(let date): (" WHERE t.ZTIMESTAMP > ?", .date(date.timeIntervalSinceReferenceDate))
    case .beforeDate(let date): (" WHERE t.ZTIMESTAMP < ?", .date(date.timeIntervalSinceReferenceDate))
    }
  }
}

/// Reads transactions and their changes, in the form that a file has.
///
/// Made for one read transaction. Entities that the model does not know are skipped, and damaged rows throw
/// `.invalidStore` with their keys.
private struct HistoryReader {
  /// The store, for IDs and layouts.
  let store: SQLiteStore
  /// The connection in a read transaction.
  let connection: Connection
  /// The history tables of the file.
  let form: HistoryForm

  /// Charges rows and bytes to a running script.
  func transactions(
    _ extent: HistoryRange, includingChanges: Bool, limit: Int
  ) throws -> [PersistentHistoryTransaction] {
    let (condition, value) = extent.condition
    let texts = ["ZAUTHOR", "ZCONTEXTNAME", "ZBUNDLEID", "ZPROCESSID"].map(text).joined(separator: ", ")
    let statement = try connection.statement(
      "SELECT t.Z_PK, t.ZTIMESTAMP, \(texts) FROM ATRANSACTION t\(condition) ORDER BY t.Z_PK\(limit > 0 ? " LIMIT \(limit)" : "")"
    )
    value?.bind(to: statement)
    defer { statement.reset() }
    var memory = HostMemory()
    var found: [PersistentHistoryTransaction] = []
    while try statement.step() {
      try HostWork.charge()
      try memory.hold(256)
      guard let seconds = statement.storedDouble(1), seconds.isFinite else {
        throw damage(statement, 1, "its time (ZTIMESTAMP)", wanted: "date", in: "ATRANSACTION")
      }
      found.append(
        PersistentHistoryTransaction(
          transactionNumber: statement.integer(0), storeID: store.identifier,
          timestamp: Date(timeIntervalSinceReferenceDate: seconds),
          author: try optionalText(statement, 2), contextName: try optionalText(statement, 3),
          bundleID: try optionalText(statement, 4), processID: try optionalText(statement, 5)))
    }
    guard includingChanges, let first = found.first, let last = found.last else { return found }
    let part = try changes(
      of: first.transactionNumber...last.transactionNumber, after: .min, limit: -1, &memory)
    return found.map { $0.with(part.changes[$0.transactionNumber] ?? []) }
  }

  /// The SQL expression for a text, which is stored in a table of its own or in the transaction. If both exist, the
  /// interned text is preferred.
  private func text(_ column: String) -> String {
    var ways: [String] = []
    if form.internsTexts, form.columns.contains(column + "TS") {
      ways.append("(SELECT s.ZNAME FROM ATRANSACTIONSTRING s WHERE s.Z_PK = t.\(column)TS)")
    }
    if form.columns.contains(column) { ways.append("t.\(column)") }
    return ways.count > 1 ? "COALESCE(\(ways.joined(separator: ", ")))" : ways.first ?? "NULL"
  }

  /// Nil for NULL. Throws for a value that is no text.
  private func optionalText(_ row: Statement, _ column: Int32) throws -> String? {
    if row.isNull(column) { return nil }
    guard let text = row.storedText(column) else {
      throw damage(row, column, "its author, context or process", wanted: "text", in: "ATRANSACTION")
    }
    return String(decoding: text, as: UTF8.self)
  }

  // MARK: Changes

  /// The bitmap of a change's columns, with the entity number.
  ///
  /// Bitmaps repeat often, so their names are remembered.
  private struct Bitmap: Hashable {
    /// The number in `ZENTITY`.
    let entity: Int64
    /// The contents of `ZCOLUMNS`.
    let bytes: Data
  }

  /// Reads the changes of the transactions with one statement. A negative limit means no limit. Ordered by transaction
  /// and key.
  func changes(
    of transactions: ClosedRange<Int64>, after change: Int64, limit: Int, _ memory: inout HostMemory
  ) throws -> HistoryPart {
    let names = form.tombstoneColumns.map { ", \(identifier($0))" }.joined()
    // An index finds the changes of a single transaction after a number.
    let isOne = transactions.count == 1
    let statement = try connection.statement(
      "SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZCOLUMNS, ZTRANSACTIONID\(names) FROM ACHANGE "
        + "WHERE ZTRANSACTIONID \(isOne ? "= ?1" : "BETWEEN ?1 AND ?4") AND Z_PK > ?2 "
        + "ORDER BY ZTRANSACTIONID, Z_PK LIMIT ?3")
    statement.bind(transactions.lowerBound, at: 1)
    statement.bind(change, at: 2)
    statement.bind(Int64(limit), at: 3)
    if !isOne { statement.bind(transactions.upperBound, at: 4) }
    defer { statement.reset() }
    var part = HistoryPart()
    var known: [Bitmap: [String]] = [:]
    var count = 0
    while try statement.step() {
      try HostWork.charge()
      count += 1
      part.end = count == limit ? (statement.integer(5), statement.integer(0)) : nil
      // Entities of older models, and of other configurations, are not known here.
      guard let number = statement.storedInteger(2) else {
        throw damage(statement, 2, "its entity (ZENTITY)", wanted: "entity number")
      }
      guard let entity = store.layout.numbered(number) else { continue }
      let layout = try store.layout.layout(entity)
      let change = try self.change(statement, of: layout) { bytes in
        let bitmap = Bitmap(entity: number, bytes: bytes)
        if let names = known[bitmap] { return names }
        let names = ChangedColumns.names(bytes, of: layout)
        known[bitmap] = names
        return names
      }
      try memory.hold(192 + change.tombstone.reduce(0) { $0 + 64 + $1.value.weight })
      part.append(change, of: statement.integer(5))
    }
    return part
  }

  /// `names` gives the property names of a bitmap.
  private func change(
    _ row: Statement, of layout: EntityLayout, names: (Data) -> [String]
  ) throws -> PersistentHistoryChange {
    guard let type = row.storedInteger(1).flatMap(PersistentHistoryChange.ChangeType.init) else {
      throw damage(row, 1, "its kind (ZCHANGETYPE)", wanted: "insertion (0), update (1) or deletion (2)")
    }
    guard let key = row.storedInteger(3) else { throw damage(row, 3, "its object (ZENTITYPK)", wanted: "key") }
    return PersistentHistoryChange(
      changeID: row.integer(0),
      changedObjectID: try objectID(of: key, as: layout),
      changeType: type,
      updatedProperties: type == .update ? names(row.data(4)) : [],
      tombstone: type == .delete ? try tombstone(row, of: layout) : [:])
  }

  /// The object with a key. The entity is the row's, if the row still exists, and otherwise the history's. Throws
  /// errors of SQLite. For an entity with subentities this takes a query for each change.
  private func objectID(of key: Int64, as layout: EntityLayout) throws -> ManagedObjectID {
    var entity = layout.entity
    let root = store.layout.model.entities[entity.root]
    if root.hasSubentities {
      let statement = try connection.statement("SELECT Z_ENT FROM \(identifier(layout.table)) WHERE Z_PK = ?")
      statement.bind(key, at: 1)
      defer { statement.reset() }
      if try statement.step(), let number = statement.storedInteger(0),
        let own = store.layout.entity(number: number)?.entity, own.root == root.index
      {
        entity = own
      }
    }
    return ManagedObjectID(store: store.number, entity: entity.symbol, key: key)
  }

  /// The values of a tombstone's columns, in the forms of their attributes. A value that cannot be decoded becomes a
  /// token that throws when it is used. Values in files are left out, because their files are gone.
  private func tombstone(_ row: Statement, of layout: EntityLayout) throws -> [String: Value] {
    let kept = zip(layout.tombstone, form.tombstoneColumns.indices).filter { !row.isNull(Int32(6 + $1)) }
    guard !kept.isEmpty else { return [:] }
    let page = RowPageBuilder(entity: layout.entity, store: store.identifier, capacity: 1)
    page.beginRow(key: 1, version: 1)
    var names: [(String, Slot)] = []
    for (attribute, index) in kept {
      // The kind comes from the attribute's type, because the file may lack the column.
      guard let kind = attribute.attribute.flatMap({ ColumnKind($0) }), kind != .externalData else { continue }
      do {
        try ColumnDecoder.read(
          kind, of: row, column: Int32(6 + index), external: store.externalData, into: page, slot: attribute.slot)
      } catch {
        let damage = damage(row, "what is left of \(layout.entity.name).\(attribute.name) \(error.description)")
        page.set(.object(OpaqueObject(damage: damage, digest: error.digest)), slot: attribute.slot)
      }
      names.append((attribute.name, attribute.slot))
    }
    page.endRow()
    let values = Snapshot(page.finish(), at: 0).values
    return Dictionary(names.map { ($0.0, values[$0.1]) }) { first, _ in first }
  }

  /// `what` describes the column.
  private func damage(
    _ row: Statement, _ column: Int32, _ what: String, wanted: String, in table: String = "ACHANGE"
  ) -> GraphError {
    let mismatch = ColumnMismatch(row, column: column, storage: row.storage(column), wanted: wanted)
    return damage(row, "\(what) \(mismatch.description)", in: table)
  }

  /// The code is `.invalidStore`.
  private func damage(_ row: Statement, _ what: String, in table: String = "ACHANGE") -> GraphError {
    GraphError(
      .invalidStore,
      message:
        "\(store.file.path) is damaged: row \(row.integer(0)) of the history (\(table)): \(what); put it right, or delete the history up to there"
    )
  }
}
