import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQLite

/// What a file holds: its tables with their columns, and the entity numbers.
struct FileSchema: Sendable {
  /// Columns in order, by table; all names in upper case.
  let columns: [String: [String]]
  /// `Z_ENT` by `Z_NAME`.
  let numbers: [String: Int64]
  private let path: String

  /// Throws `.invalidStore` where the table of the entity numbers lacks a column.
  init(_ connection: Connection, path: String) throws {
    self.path = path
    columns = try Self.columns(connection)
    if let found = columns["Z_PRIMARYKEY"] {
      try Self.require(["Z_ENT", "Z_NAME", "Z_MAX"], in: "Z_PRIMARYKEY", found: found, path: path)
      numbers = try Self.numbers(connection)
    } else {
      numbers = [:]
    }
  }

  func has(_ table: String) -> Bool { columns[table.uppercased()] != nil }

  func has(_ column: String, in table: String) -> Bool {
    columns[table.uppercased()]?.contains(column.uppercased()) ?? false
  }

  /// Throws `.invalidStore` where the file has no such table, or one that lacks some of these columns.
  func require(_ wanted: [String], in table: String) throws {
    guard let found = columns[table.uppercased()] else {
      throw GraphError(
        .invalidStore, message: "\(path) is damaged: it has no table \(table), which its model asks for")
    }
    try Self.require(wanted, in: table, found: found, path: path)
  }

  /// The same of a table whose columns are known.
  static func require(_ wanted: [String], in table: String, found: some Collection<String>, path: String) throws {
    let found = Set(found.map { $0.uppercased() })
    guard let missing = wanted.first(where: { !found.contains($0) }) else { return }
    throw GraphError(
      .invalidStore,
      message: "\(path) is damaged: table \(table) has no column \(missing): restore the file from a backup")
  }

  /// The columns of one table; none where the file has no such table.
  static func columns(of table: String, on connection: Connection) throws -> Set<String> {
    let statement = try connection.statement(
      "SELECT name FROM pragma_table_info((SELECT name FROM sqlite_master "
        + "WHERE type = 'table' AND rootpage > 0 AND name = '\(table)'))")
    defer { statement.reset() }
    var names: Set<String> = []
    while try statement.step() { names.insert(statement.text(0)) }
    return names
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
