import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// Writes the persistent history of a save, in a store that keeps a history: a transaction and a change for each row,
/// in the form that the file has.
///
/// Used for one save within its transaction. Batch requests use the lower parts (`writeTransaction`, `ChangeWriter`)
/// with their own counts.
struct HistoryWriter {
  /// The tables and columns.
  let layout: StoreLayout
  /// The connection of the save's transaction.
  let connection: Connection
  /// The path of the store, for messages.
  let path: String
  /// The author of the transaction; nil for none.
  let author: String?
  /// The history tables of the file.
  let form: HistoryForm

  /// Writes the history of a save. Called before the rows change, because tombstones keep values of deleted rows. A
  /// save without changes writes no transaction. Throws `.constraintConflict` if the file refuses a row of the history.
  func write(_ changes: StoreChanges) throws {
    let updates = try changes.updatedSlots(in: layout.model, isLinked: isLinked)
    // Another context may have deleted the row.
    let deleted = try changes.deleted.filter { try isThere($0.id) }
    let count = changes.inserted.count + updates.count + deleted.count
    guard count > 0 else { return }
    var writer = try ChangeWriter(
      table("ACHANGE", 16_001), form: form, transaction: writeTransaction(of: changes.contextName), count: count)
    for row in changes.inserted { try writer.write(.insertion, of: layout.layout(of: row.id), row: row.id.key) }
    for (id, slots) in updates {
      let entity = try layout.layout(of: id)
      try writer.write(.update, of: entity, row: id.key, columns: ChangedColumns.bitmap(slots, of: entity))
    }
    for deletion in deleted {
      let entity = try layout.layout(of: deletion.id)
      try writer.write(
        .deletion, of: entity, row: deletion.id.key, tombstone: entity.tombstone.compactMap(entity.column))
    }
  }

  /// Whether the file has a row with the ID.
  private func isThere(_ id: ManagedObjectID) throws -> Bool {
    let table = identifier(try layout.layout(of: id).table)
    return try answers("SELECT 1 FROM \(table) WHERE Z_PK = ?", id.key)
  }

  /// Whether the file stores an object as a destination of the links' owner. False for a link that was only in memory.
  private func isLinked(_ links: StoreChanges.Links, _ id: ManagedObjectID) throws -> Bool {
    switch try layout.layout(of: links.owner).slots[links.slot] {
    case .join(let join):
      return try answers(PairStatements(join, dialect: .sqlite).presence, links.owner.key, id.key)
    case .foreignKey(let toOne, let destination):
      let table = identifier(try layout.layout(layout.model.entities[destination]).table)
      return try answers(
        "SELECT 1 FROM \(table) WHERE Z_PK = ? AND \(identifier(toOne.column)) = ?", id.key, links.owner.key)
    case .none, .lost, .attribute, .composite, .toOne: return false
    }
  }

  /// Whether a query returns a row for these keys.
  private func answers(_ sql: String, _ keys: Int64...) throws -> Bool {
    let statement = try connection.statement(sql)
    for (index, key) in keys.enumerated() { statement.bind(key, at: Int32(index + 1)) }
    defer { statement.reset() }
    return try statement.step()
  }

  // MARK: The transaction

  /// Writes the row of `ATRANSACTION` with the current time and returns its key. The names of process and bundle are
  /// both the process's name.
  @discardableResult
  func writeTransaction(of contextName: String?) throws -> Int64 {
    let table = table("ATRANSACTION", 16_002)
    let key = try table.reserve(1)
    let process = ProcessInfo.processInfo.processName
    let known = [
      ("ZAUTHOR", author), ("ZCONTEXTNAME", contextName), ("ZBUNDLEID", process), ("ZPROCESSID", process),
    ]
    let texts = known.filter { form.columns.contains(column($0.0)) && $0.1 != nil }
    let names = ["Z_PK", "Z_ENT", "Z_OPT", "ZTIMESTAMP"] + texts.map { column($0.0) }
    let keys = form.internsTexts ? try texts.map { try string($0.1 ?? "") } : []
    let statement = try connection.statement(
      "INSERT OR ABORT INTO ATRANSACTION (\(names.joined(separator: ", "))) VALUES (\(parameters(names.count)))")
    statement.bind(key, at: 1)
    statement.bind(table.number, at: 2)
    statement.bind(Int64(1), at: 3)
    statement.bind(Date().timeIntervalSinceReferenceDate, at: 4)
    for (index, text) in texts.enumerated() {
      if form.internsTexts {
        statement.bind(keys[index], at: Int32(5 + index))
      } else {
        statement.bind(text.1 ?? "", at: Int32(5 + index))
      }
    }
    try table.insert(with: statement)
    return key
  }

  /// The column for a text, or for the key of an interned text. For example `ZAUTHORTS` or `ZAUTHOR`.
  private func column(_ name: String) -> String { form.internsTexts ? name + "TS" : name }

  /// The key of an interned text. A new text gets a row in `ATRANSACTIONSTRING`.
  private func string(_ text: String) throws -> Int64 {
    let known = try connection.statement("SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?")
    known.bind(text, at: 1)
    defer { known.reset() }
    if try known.step() { return known.integer(0) }
    let table = table("ATRANSACTIONSTRING", 16_003)
    let key = try table.reserve(1)
    let statement = try connection.statement(
      "INSERT OR ABORT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?, ?, 1, ?)")
    statement.bind(key, at: 1)
    statement.bind(table.number, at: 2)
    statement.bind(text, at: 3)
    try table.insert(with: statement)
    return key
  }

  /// The numbers are fixed: 16001 for `ACHANGE`, 16002 for `ATRANSACTION`, 16003 for `ATRANSACTIONSTRING`.
  func table(_ name: String, _ number: Int64) -> HistoryTable {
    HistoryTable(name: name, number: number, connection: connection, path: path)
  }
}

/// A table of the history.
///
/// A value that is made where it is needed.
struct HistoryTable {
  /// The name in SQL.
  let name: String
  /// Its entity's number in `Z_PRIMARYKEY`.
  let number: Int64
  /// The connection of the transaction.
  let connection: Connection
  /// The path of the store, for messages.
  let path: String

  /// Sets aside keys and returns the first. The keys are consecutive.
  func reserve(_ count: Int) throws -> Int64 {
    try KeyReservation(connection: connection, path: path).reserve(count, number: number, name: "the history")
  }

  /// Throws where another row has the key, and where the file refuses or ignores this row. The codes are
  /// `.invalidStore` and `.constraintConflict`.
  func insert(with statement: Statement) throws {
    do {
      try statement.run()
    } catch let error as SQLiteError where error.code == .primaryKeyConstraint {
      // The key was set aside in this transaction, so no other writer can have it.
      throw GraphError(
        .invalidStore,
        message:
          "\(path) is damaged: \(name) has a row with a key that was never given; nothing was saved: set the greatest "
          + "key (Z_MAX) of Z_ENT \(number) in Z_PRIMARYKEY to the greatest Z_PK of \(name)", underlying: error)
    } catch let error as SQLiteError where error.code.primary == .constraint {
      throw GraphError.refused(change, in: path, by: error)
    }
    if connection.changes == 0 { throw GraphError.ignored(change, in: path) }
  }

  /// The change in messages.
  private var change: String { "the history of the save (table \(name))" }
}
