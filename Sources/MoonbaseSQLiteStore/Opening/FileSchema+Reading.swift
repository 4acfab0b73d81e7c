import MoonbaseGraph
import MoonbaseSQL
import MoonbaseSQLite

extension FileSchema {
  /// Throws `.invalidStore` where the table of the entity numbers lacks a column.
  init(_ connection: Connection, path: String) throws {
    let (columns, keyed) = try Self.columns(connection)
    var numbers: [String: Int64] = [:]
    if let found = columns["Z_PRIMARYKEY"] {
      try Self.require(["Z_ENT", "Z_NAME", "Z_MAX"], in: "Z_PRIMARYKEY", found: found, path: path)
      numbers = try Self.numbers(connection)
    }
    self.init(columns: columns, keyed: keyed, numbers: numbers, path: path)
  }

  /// The columns of one table; none where the file has no such table.
  static func columns(of table: String, on connection: Connection) throws -> Set<String> {
    let statement = try connection.statement(
      "SELECT name FROM pragma_table_xinfo((SELECT name FROM sqlite_master "
        + "WHERE type = 'table' AND rootpage > 0 AND name = '\(table)'))")
    defer { statement.reset() }
    var names: Set<String> = []
    while try statement.step() { names.insert(statement.text(0)) }
    return names
  }

  /// Virtual tables have no page of their own. They are never asked: the module behind one may be an app's own.
  private static func columns(_ connection: Connection) throws -> ([String: [String]], keyed: Set<String>) {
    let statement = try connection.statement(
      "SELECT m.name, c.name, c.pk FROM (SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 LIMIT -1) m "
        // Generated columns are among these; the hidden ones of virtual tables have 1.
        + "JOIN pragma_table_xinfo(m.name) c WHERE c.hidden <> 1 ORDER BY c.cid"
    )
    defer { statement.reset() }
    var result: [String: [String]] = [:]
    var keyed: Set<String> = []
    while try statement.step() {
      let table = statement.text(0).uppercased()
      result[table, default: []].append(statement.text(1).uppercased())
      if statement.integer(2) > 0 { keyed.insert(table) }
    }
    return (result, keyed)
  }

  private static func numbers(_ connection: Connection) throws -> [String: Int64] {
    let statement = try connection.statement("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY")
    defer { statement.reset() }
    var result: [String: Int64] = [:]
    while try statement.step() { result[statement.text(0)] = statement.integer(1) }
    return result
  }
}
