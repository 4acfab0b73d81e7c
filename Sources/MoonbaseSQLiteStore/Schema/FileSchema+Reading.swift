import MoonbaseGraph
import MoonbaseSQL
package import MoonbaseSQLite

/// Reading the schema of a SQLite file.
extension FileSchema {
  /// Throws `.invalidStore` where the table of the entity numbers lacks a column.
  ///
  /// Reads the tables, columns and entity numbers of a file. Two queries are enough for most files; a table whose SQL
  /// cannot be parsed needs one more.
  package init(_ connection: Connection, path: String) throws {
    let tables = try Self.tables(connection)
    var numbers: [String: Int64] = [:]
    if let found = tables["Z_PRIMARYKEY"] {
      try Self.require(["Z_ENT", "Z_NAME", "Z_MAX"], in: "Z_PRIMARYKEY", found: found.columns, path: path)
      numbers = try Self.numbers(connection)
    }
    self.init(tables: tables, numbers: numbers, path: path)
  }

  /// The columns of a table; empty where the file has no such table. Hidden columns of virtual tables are not included.
  package static func columns(of table: String, on connection: Connection) throws -> Set<String> {
    let statement = try connection.statement(
      "SELECT name FROM pragma_table_xinfo((SELECT name FROM sqlite_master "
        + "WHERE type = 'table' AND rootpage > 0 AND name = '\(table)'))")
    defer { statement.reset() }
    var names: Set<String> = []
    while try statement.step() { names.insert(statement.text(0)) }
    return names
  }

  /// Virtual tables have no root page. They are not queried: the module may be an app's own. Keys are uppercase names.
  private static func tables(_ connection: Connection) throws -> [String: Table] {
    let statement = try connection.statement(
      "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
    defer { statement.reset() }
    var result: [String: Table] = [:]
    var others: [String] = []
    while try statement.step() {
      let name = statement.text(0)
      if let text = statement.storedTextBytes(1), let table = TableText.table(text) {
        result[name.uppercased()] = table
      } else {
        others.append(name)
      }
    }
    for name in others { result[name.uppercased()] = try table(name, on: connection) }
    return result
  }

  /// Asks SQLite for the columns of a table.
  private static func table(_ name: String, on connection: Connection) throws -> Table {
    // Includes generated columns. The hidden columns of virtual tables have the value 1.
    let statement = try connection.statement(
      "SELECT name, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid")
    statement.bind(name, at: 1)
    defer { statement.reset() }
    var columns: [String] = []
    var hasKey = false
    while try statement.step() {
      columns.append(statement.text(0).uppercased())
      hasKey = hasKey || statement.integer(1) > 0
    }
    return Table(columns: columns, hasKey: hasKey)
  }

  /// Entity numbers by entity name.
  private static func numbers(_ connection: Connection) throws -> [String: Int64] {
    let statement = try connection.statement("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY")
    defer { statement.reset() }
    var result: [String: Int64] = [:]
    while try statement.step() { result[statement.text(0)] = statement.integer(1) }
    return result
  }
}
