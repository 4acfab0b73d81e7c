import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// Writes the rows of `ACHANGE` for one transaction.
struct ChangeWriter {
  enum Kind: Int64 {
    case insertion = 0
    case update = 1
    case deletion = 2
  }

  private let table: HistoryTable
  private let transaction: Int64
  private let tombstones: [String]
  private var key: Int64

  /// Sets aside keys for this number of changes.
  init(_ table: HistoryTable, form: HistoryForm, transaction: Int64, count: Int) throws {
    self.table = table
    self.transaction = transaction
    key = try table.reserve(count)
    tombstones = form.tombstoneColumns
  }

  /// SQLite copies the columns that a tombstone keeps, unchanged.
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
