import MoonbaseSQLite

/// What a file holds: its tables with their columns, and the entity numbers.
struct FileSchema: Sendable {
  /// Columns in order, by table; all names in upper case.
  let columns: [String: [String]]
  /// `Z_ENT` by `Z_NAME`.
  let numbers: [String: Int64]

  init(_ connection: Connection) throws {
    columns = try Self.columns(connection)
    numbers = columns["Z_PRIMARYKEY"] == nil ? [:] : try Self.numbers(connection)
  }

  func has(_ table: String) -> Bool { columns[table.uppercased()] != nil }

  func has(_ column: String, in table: String) -> Bool {
    columns[table.uppercased()]?.contains(column.uppercased()) ?? false
  }

  /// Virtual tables have no page of their own. They are never asked: the module behind one may be an app's own.
  private static func columns(_ connection: Connection) throws -> [String: [String]] {
    let statement = try connection.statement(
      "SELECT m.name, c.name FROM (SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 LIMIT -1) m "
        + "JOIN pragma_table_info(m.name) c ORDER BY c.cid"
    )
    defer { statement.reset() }
    var result: [String: [String]] = [:]
    while try statement.step() {
      result[statement.text(0).uppercased(), default: []].append(statement.text(1).uppercased())
    }
    return result
  }

  private static func numbers(_ connection: Connection) throws -> [String: Int64] {
    let statement = try connection.statement("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY")
    defer { statement.reset() }
    var result: [String: Int64] = [:]
    while try statement.step() { result[statement.text(0)] = statement.integer(1) }
    return result
  }
}
