import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// Writes the rows of `ACHANGE` for one transaction.
///
/// Made for each save and batch request. Changes must be written before their rows are deleted, because a tombstone
/// copies the row.
struct ChangeWriter {
  /// The raw values are those of `ZCHANGETYPE`.
  enum Kind: Int64 {
    /// A new row.
    case insertion = 0
    /// A changed row, with the bitmap of its columns.
    case update = 1
    /// A deleted row, with the values of its tombstone.
    case deletion = 2
  }

  /// The table `ACHANGE`.
  private let table: HistoryTable
  /// The key of the transaction.
  private let transaction: Int64
  /// The columns for values of deleted rows.
  private let tombstones: [String]
  /// The key of the next change.
  private var key: Int64

  /// Sets aside keys for this number of changes. Throws if no keys are left.
  init(_ table: HistoryTable, form: HistoryForm, transaction: Int64, count: Int) throws {
    self.table = table
    self.transaction = transaction
    key = try table.reserve(count)
    tombstones = form.tombstoneColumns
  }

  /// SQLite copies the columns that a tombstone keeps, unchanged. `columns` is the bitmap of the changed columns, for
  /// an update; `tombstone` are columns of the row, for a deletion.
  mutating func write(
    _ kind: Kind, of layout: EntityLayout, row: Int64, columns: Data? = nil, tombstone: [String] = []
  ) throws {
    let kept = zip(tombstones, tombstone)
    let names = kept.map { ", \(identifier($0.0))" }.joined()
    let values = kept.map { ", (SELECT \(identifier($0.1)) FROM \(identifier(layout.table)) WHERE Z_PK = ?5)" }.joined()
    let statement = try table.connection.statement(
      "INSERT OR ABORT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS\(names)) "
        + "VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7\(values))")
    statement.bind(key, at: 1)
    statement.bind(table.number, at: 2)
    statement.bind(kind.rawValue, at: 3)
    statement.bind(layout.number, at: 4)
    statement.bind(row, at: 5)
    statement.bind(transaction, at: 6)
    if let columns { statement.bind(columns, at: 7) }
    try table.insert(with: statement)
    key += 1
  }
}
