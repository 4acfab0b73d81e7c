import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// Rows that statements are about to change or delete, as parts of SQL.
///
/// The statements of a batch and those of its history share these parts, so that both concern the same rows.
struct ChangedRows {
  /// The `WITH` clause of statements about the rows.
  var with = SQLFragment("")
  /// The SQL after `FROM`: the rows, called `t0`, and their condition.
  var source: SQLFragment
  /// The expression for the entity number of a row.
  var entity: String
  /// The expression for the bits of the changed columns.
  var columns = SQLFragment("NULL")
  /// The values that the tombstone of a deleted row keeps, one for each tombstone column of the history.
  var tombstone: [String] = []
}

/// The history of a batch request: a transaction and its changes, written by one statement a table before the rows
/// change.
///
/// The history must be written first: afterwards the former values and the condition's rows are gone. The keys of
/// changes are consecutive.
struct BatchHistory {
  /// Writes to the history tables of the file.
  private let writer: HistoryWriter
  /// The name of the context that executes the request, for the transaction.
  private let contextName: String?
  /// The key of the transaction.
  private let transaction: Int64
  /// The table of changes, with its last key.
  private let changes: HistoryTable
  /// The changes so far.
  private var count = 0

  /// Sets aside the keys when their number is known. Within the transaction no other writer can be given one.
  init(_ writer: HistoryWriter, contextName: String?) throws {
    (self.writer, self.contextName) = (writer, contextName)
    transaction = try writer.table("ATRANSACTION", 16_002).reserve(0)
    changes = writer.table("ACHANGE", 16_001)
  }

  /// Writes a change for each of the rows, and returns their number. `run` runs a statement and returns the number of
  /// rows it wrote.
  ///
  /// The statement is an `INSERT … SELECT` over the rows, so its cost does not depend on Swift.
  mutating func note(
    _ kind: ChangeWriter.Kind, of rows: ChangedRows, run: (SQLFragment) throws -> Int
  ) throws -> Int {
    let first = try changes.reserve(0)
    let kept = Array(zip(writer.form.tombstoneColumns, rows.tombstone))
    let names = kept.map { ", \(identifier($0.0))" }.joined()
    let head = SQLFragment(
      "INSERT OR ABORT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS\(names)) "
        + "SELECT ? + ROW_NUMBER() OVER (), \(changes.number), 1, \(kind.rawValue), \(rows.entity), t0.Z_PK, ?, ",
      values: [.int(first - 1), .int(transaction)])
    let values = kept.map { ", \($0.1)" }.joined()
    let written = try run(rows.with + head + rows.columns + "\(values) FROM " + rows.source)
    if written > 0 { _ = try changes.reserve(written) }
    count += written
    return written
  }

  /// Writes the transaction, if there is any change.
  func finish() throws { if count > 0 { try writer.writeTransaction(of: contextName) } }
}

/// The SQL function that makes the bits of a row's changed columns (`ZCOLUMNS`).
///
/// The bits of each combination are made once: a batch has few combinations of entity and changed columns.
struct ChangedBits {
  /// The number of slots that fit an integer of SQL.
  static let greatestCount = 62
  /// The name in SQL.
  private static let name = "MOONBASE_CHANGED_BITS"

  /// The entity number and the changed slots of a row.
  private struct Key: Hashable {
    /// `Z_ENT`.
    let entity: Int64
    /// A bit for each element of `slots`.
    let mask: Int64
  }

  /// The attributes that the batch sets, or the references that it removes.
  let slots: [Slot]

  /// Registers the function on a connection, replacing one for other slots.
  func register(on connection: Connection, layout: StoreLayout) throws {
    var known: [Key: Data] = [:]
    try connection.register(function: Self.name, arguments: 2, traits: [.directOnly]) { [slots] call in
      let key = Key(entity: call.integer(0), mask: call.integer(1))
      if let bits = known[key] { return call.set(bits) }
      guard let entity = layout.entity(number: key.entity) else { return call.setNull() }
      let changed = slots.indices.filter { key.mask & 1 << Int64($0) != 0 }.map { slots[$0] }
      let bits = ChangedColumns.bitmap(Set(changed), of: entity)
      known[key] = bits
      call.set(bits)
    }
  }

  /// The bits of a row, from its entity number and a condition for each slot. A single condition is true for all rows
  /// of the statement.
  func call(entity: String, where conditions: [SQLFragment]) -> SQLFragment {
    let parts = conditions.enumerated().map { place, condition in "((" + condition + ") IS TRUE) << \(place)" }
    let mask = conditions.count == 1 ? SQLFragment("1") : parts.map(\.parenthesized).joined(" | ")
    return "\(Self.name)(\(entity), " + mask + ")"
  }
}

extension [EntityLayout] {
  /// The values that the history keeps of deleted rows `t0` of these entities, by tombstone column. An expression for
  /// each tombstone column; a `CASE` where entities keep different attributes.
  func tombstone(entity: String) -> [String] {
    let columns = map { kind in (number: kind.number, names: kind.tombstone.compactMap(kind.column)) }
    return (0..<(columns.map(\.names.count).max() ?? 0)).map { place in
      let values = columns.map { $0.names.indices.contains(place) ? "t0.\(identifier($0.names[place]))" : "NULL" }
      if Set(values).count == 1 { return values[0] }
      return "CASE \(entity) " + zip(columns, values).map { "WHEN \($0.number) THEN \($1)" }.joined(separator: " ")
        + " END"
    }
  }
}
