import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
package import MoonbaseSQLite

/// Makes the history tables in a file that has none, in the form of current frameworks.
///
/// Used when a store is opened with `tracksHistory`. The numbers 16001 to 16003 in `Z_PRIMARYKEY` are those of Core
/// Data.
package struct HistorySchema {
  /// The layout, for the number of preserved values.
  let layout: StoreLayout
  /// The path of the store, for messages.
  package let path: String

  /// Describes the history tables of a layout.
  package init(layout: StoreLayout, path: String) {
    self.layout = layout
    self.path = path
  }

  /// Whether all tables and tombstone columns exist. Checked first, because most files have them. Reads the schema
  /// only, so no lock is taken.
  func isThere(_ connection: Connection) throws -> Bool {
    guard let form = try HistoryForm(connection, path: path) else { return false }
    return form.tombstoneColumns.count >= tombstones.count
  }

  /// The tables whose keys `Z_PRIMARYKEY` counts, with their numbers there.
  package static var countedTables: [(number: Int64, table: String)] { tables.map { ($0.number, $0.name) } }

  /// The counted tables that a file has.
  package static func tablesThere(on connection: Connection) throws -> [(number: Int64, table: String)] {
    try countedTables.filter { try !FileSchema.columns(of: $0.table, on: connection).isEmpty }
  }

  /// Makes missing tables and columns in the caller's transaction.
  ///
  /// Throws `.invalidStore` for a file that has some of the tables.
  package func write(_ connection: Connection) throws {
    guard let form = try HistoryForm(connection, path: path) else { return try writeTables(connection) }
    // The model may preserve more values than the model for which the tables were made.
    for column in tombstones.dropFirst(form.tombstoneColumns.count) where !form.changeColumns.contains(column) {
      try connection.execute("ALTER TABLE ACHANGE ADD COLUMN \(column)")
    }
  }

  /// Also makes the indexes and the counters.
  private func writeTables(_ connection: Connection) throws {
    for table in Self.tables.map(\.name) where try !FileSchema.columns(of: table, on: connection).isEmpty {
      throw GraphError(
        .invalidStore,
        message:
          "\(path) has the table \(table) of a history but not all of its tables: drop it, or open the store without tracksHistory (--keep-history)"
      )
    }
    for table in Self.tables {
      let columns = table.columns + (table.name == "ACHANGE" ? tombstones : [])
      try connection.execute(
        "CREATE TABLE \(table.name) ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \(columns.joined(separator: ", ")) )"
      )
    }
    for index in Self.indexes { try connection.execute(index) }
    let statement = try connection.statement(
      "INSERT OR REPLACE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?1, ?2, 0, "
        + "IFNULL((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?1), 0))")
    for table in Self.tables {
      statement.bind(table.number, at: 1)
      statement.bind(String(table.name.dropFirst()), at: 2)
      try statement.run()
    }
  }

  /// The columns for values of deleted rows, as many as any entity preserves. They have no declared type.
  private var tombstones: [String] {
    let count = layout.entities.compactMap { $0?.tombstone.count }.max() ?? 0
    return (0..<count).map { "ZTOMBSTONE\($0)" }
  }

  /// A table of the history, as Core Data declares it.
  private struct Table {
    /// The name in SQL.
    let name: String
    /// The number in `Z_PRIMARYKEY`.
    let number: Int64
    /// The declarations after `Z_PK`, `Z_ENT` and `Z_OPT`.
    let columns: [String]
  }

  /// The three tables with their columns.
  private static let tables = [
    Table(
      name: "ACHANGE", number: 16_001,
      columns: [
        "ZCHANGETYPE INTEGER", "ZENTITY INTEGER", "ZENTITYPK INTEGER", "ZTRANSACTIONID INTEGER", "ZCOLUMNS BLOB",
      ]),
    Table(
      name: "ATRANSACTION", number: 16_002,
      columns: [
        "ZAUTHORTS INTEGER", "ZBUNDLEIDTS INTEGER", "ZCONTEXTNAMETS INTEGER", "ZPROCESSIDTS INTEGER",
        "ZTIMESTAMP FLOAT",
        "ZAUTHOR VARCHAR", "ZBUNDLEID VARCHAR", "ZCONTEXTNAME VARCHAR", "ZPROCESSID VARCHAR", "ZQUERYGEN BLOB",
      ]),
    Table(name: "ATRANSACTIONSTRING", number: 16_003, columns: ["ZNAME VARCHAR"]),
  ]

  /// The `CREATE INDEX` statements of all tables.
  private static let indexes =
    [
      "ACHANGE_ZTRANSACTIONID", "ATRANSACTION_ZAUTHORTS", "ATRANSACTION_ZBUNDLEIDTS", "ATRANSACTION_ZCONTEXTNAMETS",
      "ATRANSACTION_ZPROCESSIDTS",
    ]
    .map { name in
      let parts = name.split(separator: "_")
      return "CREATE INDEX \(name)_INDEX ON \(parts[0]) (\(parts[1]))"
    } + [
      "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
      "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
      "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)",
    ]
}
