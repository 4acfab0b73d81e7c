import MoonbasePlatform
import MoonbaseSQLite

/// Reads a file by SQL without the store.
struct RawDatabase {
  let connection: Connection

  init(_ url: URL, trustsSchema: Bool = false, orNew: Bool = false) throws {
    connection = try Connection(url.path, mode: orNew ? .create : .readWrite, trustsSchema: trustsSchema)
  }

  /// The rows of a query, columns separated by `|`, NULL empty.
  func rows(_ sql: String) throws -> [String] {
    let statement = try connection.statement(sql)
    defer { statement.reset() }
    var result: [String] = []
    while try statement.step() {
      result.append((0..<statement.columnCount).map { statement.text($0) }.joined(separator: "|"))
    }
    return result
  }

  func value(_ sql: String) throws -> String? { try rows(sql).first }

  /// The statement that made a table or index.
  func schema(_ name: String) throws -> String? { try value("SELECT sql FROM sqlite_master WHERE name = '\(name)'") }

  /// Copies the tables and rows to a new database, which `settings` begin; `other` replaces `part` in the declarations
  /// of tables.
  func copy(to url: URL, settings: String = "", replacing part: String = "VARCHAR", with other: String = "VARCHAR")
    throws
  {
    let copy = try RawDatabase(url, orNew: true)
    try copy.connection.executeScript(settings)
    for sql in try rows("SELECT sql FROM sqlite_master WHERE type = 'table'") {
      try copy.connection.execute(sql.replacing(part, with: other))
    }
    for table in try rows("SELECT name FROM sqlite_master WHERE type = 'table'") {
      let columns = try rows("SELECT name FROM pragma_table_info('\(table)')")
      let row = columns.map { "quote(\($0))" }.joined(separator: " || ',' || ")
      for values in try rows("SELECT \(row) FROM \(table)") {
        try copy.connection.execute("INSERT INTO \(table) VALUES (\(values))")
      }
    }
  }
}
