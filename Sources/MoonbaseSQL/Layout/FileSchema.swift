import MoonbaseGraph
import MoonbaseModel

/// What a file holds: its tables with their columns, and the entity numbers.
package struct FileSchema: Sendable {
  /// Columns in order, by table; all names in upper case.
  package let columns: [String: [String]]
  /// `Z_ENT` by `Z_NAME`.
  package let numbers: [String: Int64]
  /// The tables with a primary key, in upper case.
  private let keyed: Set<String>
  private let path: String

  package init(columns: [String: [String]], keyed: Set<String>, numbers: [String: Int64], path: String) {
    self.columns = columns
    self.keyed = keyed
    self.numbers = numbers
    self.path = path
  }

  package func has(_ table: String) -> Bool { columns[table.uppercased()] != nil }

  /// Whether nothing keeps a row from standing twice in a table.
  func lacksKey(_ table: String) -> Bool { !keyed.contains(table.uppercased()) }

  package func has(_ column: String, in table: String) -> Bool {
    columns[table.uppercased()]?.contains(column.uppercased()) ?? false
  }

  /// Throws `.invalidStore` where the file has no such table, or one that lacks some of these columns.
  package func require(_ wanted: [String], in table: String) throws {
    guard let found = columns[table.uppercased()] else {
      throw GraphError(
        .invalidStore, message: "\(path) is damaged: it has no table \(table), which its model asks for")
    }
    try Self.require(wanted, in: table, found: found, path: path)
  }

  /// The same of a table whose columns are known.
  package static func require(_ wanted: [String], in table: String, found: some Collection<String>, path: String) throws
  {
    let found = Set(found.map { $0.uppercased() })
    guard let missing = wanted.first(where: { !found.contains($0) }) else { return }
    throw GraphError(
      .invalidStore,
      message: "\(path) is damaged: table \(table) has no column \(missing): restore the file from a backup")
  }
}
