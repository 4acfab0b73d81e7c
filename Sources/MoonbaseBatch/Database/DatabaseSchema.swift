import MoonbaseSQLite

/// The tables of a database according to SQLite's pragmas.
///
/// The schema is read once when the database is opened. Tables are sorted by name, and tables whose
/// names begin with `sqlite_` are omitted.
struct DatabaseSchema {
  /// A column of a table.
  struct Column {
    /// The name, in the table's capitalisation.
    let name: String
    /// The declared type. SQLite may store other values too.
    let declared: String
    /// Whether the declaration forbids nulls.
    let isRequired: Bool
  }

  /// A foreign key of a table.
  struct ForeignKey {
    /// The columns with the reference, in order.
    let columns: [String]
    /// The name of the referenced table.
    let parent: String
    /// The columns of the parent; empty for its primary key.
    let parentColumns: [String]
    /// The action in capitals, such as `CASCADE` or `NO ACTION`.
    let onDelete: String
  }

  /// A table with rows of its own.
  struct Table {
    /// The name of the table.
    let name: String
    /// The columns in the order of the declaration.
    let columns: [Column]
    /// The columns of the primary key, in order; empty if there is none.
    let primaryKey: [String]
    /// Sets of columns with unique values, including the primary key.
    let uniqueKeys: [[String]]
    /// The foreign keys, in the order of the declaration.
    let foreignKeys: [ForeignKey]
    /// The order of the rows, the same for each read.
    let order: String
  }

  /// The tables, by name.
  let tables: [Table]
  /// Views, virtual tables and their shadow tables, which have no rows of their own.
  let passedOver: [String]

  /// Reads the schema of the main database.
  init(_ connection: Connection) throws {
    var (tables, passedOver): ([Table], [String]) = ([], [])
    let list = try connection.rows(
      "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' ORDER BY name COLLATE BINARY")
    for row in list where !row[0].lowercased().hasPrefix("sqlite_") {
      if row[1] == "table" {
        tables.append(try Self.table(row[0], isWithoutRowid: row[2] == "1", connection))
      } else {
        passedOver.append("\(row[1]) \(row[0])")
      }
    }
    (self.tables, self.passedOver) = (tables, passedOver)
  }

  /// Reads a table. The rows are ordered by primary key in a table without row IDs, otherwise by
  /// row ID.
  private static func table(_ name: String, isWithoutRowid: Bool, _ connection: Connection) throws -> Table {
    // Generated columns are included, hidden columns of virtual tables are not.
    let rows = try connection.rows(
      "SELECT name, type, \"notnull\", pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid", name)
    let key = rows.filter { $0[3] != "0" }.sorted { Int($0[3]) ?? 0 < Int($1[3]) ?? 0 }.map { $0[0] }
    let columns = rows.map {
      // SQLite allows nulls in some primary keys. A column with nulls becomes optional nevertheless.
      Column(name: $0[0], declared: $0[1], isRequired: $0[2] == "1" || $0[3] != "0")
    }
    let names = Set(rows.map { $0[0].lowercased() })
    let rowid = ["rowid", "_rowid_", "oid"].first { !names.contains($0) }
    let order = isWithoutRowid ? key.map { "t.\($0.sqlName)" }.joined(separator: ", ") : rowid.map { "t.\($0)" } ?? ""
    return Table(
      name: name, columns: columns, primaryKey: key,
      uniqueKeys: (key.isEmpty ? [] : [key]) + (try uniqueKeys(of: name, connection)).filter { $0 != key },
      foreignKeys: try foreignKeys(of: name, connection), order: order.isEmpty ? "" : " ORDER BY \(order)")
  }

  /// The unique indexes over plain columns and all rows.
  private static func uniqueKeys(of table: String, _ connection: Connection) throws -> [[String]] {
    let indexes = try connection.rows(
      "SELECT name FROM pragma_index_list(?) WHERE \"unique\" AND NOT partial AND origin <> 'pk' ORDER BY name", table)
    return try indexes.compactMap { index in
      let columns = try connection.rows("SELECT name, cid FROM pragma_index_info(?) ORDER BY seqno", index[0])
      return columns.contains { Int($0[1]) ?? -2 < 0 } ? nil : columns.map { $0[0] }
    }
  }

  /// Reads the foreign keys. The pragma has a row for each column, and the rows of a key are
  /// adjacent.
  private static func foreignKeys(of table: String, _ connection: Connection) throws -> [ForeignKey] {
    let rows = try connection.rows(
      "SELECT id, \"table\", \"from\", COALESCE(\"to\", ''), on_delete FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq",
      table)
    var keys: [ForeignKey] = []
    var last = ""
    for row in rows {
      let former = row[0] == last ? keys.popLast() : nil
      last = row[0]
      keys.append(
        ForeignKey(
          columns: (former?.columns ?? []) + [row[2]], parent: row[1],
          parentColumns: (former?.parentColumns ?? []) + (row[3].isEmpty ? [] : [row[3]]), onDelete: row[4]))
    }
    return keys
  }
}

extension Connection {
  /// All rows of a small result, as texts.
  ///
  /// The statement is reset at the end, even after an error.
  func rows(_ sql: String, _ parameter: String? = nil) throws -> [[String]] {
    let statement = try statement(sql)
    defer { statement.reset() }
    if let parameter { statement.bind(parameter, at: 1) }
    var rows: [[String]] = []
    while try statement.step() { rows.append((0..<statement.columnCount).map(statement.text)) }
    return rows
  }
}

extension String {
  /// The text as a quoted name in SQL.
  var sqlName: String { "\"\(replacing("\"", with: "\"\""))\"" }
}
