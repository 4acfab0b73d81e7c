import MoonbasePlatform
import MoonbaseSQLite

/// Looks into a file past the store.
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
}
