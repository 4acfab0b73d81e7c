import MoonbaseGraph
import MoonbaseModel

/// What a file holds: its tables with their columns, and the entity numbers.
package struct FileSchema: Sendable {
  /// A table of the file.
  package struct Table: Sendable {
    /// The columns in order, in upper case.
    package private(set) var columns: [String] = []
    /// The types that are declared for them; nil where columns may say more than a type.
    package private(set) var types: [String]?
    /// Whether it has a primary key.
    package var hasKey = false
    /// Of a table with many columns, so that looking them up is not quadratic.
    private var places: [String: Int]?

    private static let fewColumns = 24

    package init(columns: [String], types: [String]? = nil, hasKey: Bool) {
      (self.columns, self.types, self.hasKey) = (columns, types, hasKey)
      guard columns.count > Self.fewColumns else { return }
      places = Dictionary(zip(columns, columns.indices), uniquingKeysWith: { first, _ in first })
    }

    /// Where a column stands whose name is given in upper case.
    package func place(_ column: String) -> Int? {
      if let places { places[column] } else { columns.firstIndex(of: column) }
    }

    package func has(_ column: String) -> Bool { place(column) != nil }
  }

  /// By name, in upper case.
  package let tables: [String: Table]
  /// `Z_ENT` by `Z_NAME`.
  package let numbers: [String: Int64]
  private let path: String

  package init(tables: [String: Table], numbers: [String: Int64], path: String) {
    self.tables = tables
    self.numbers = numbers
    self.path = path
  }

  package func has(_ table: String) -> Bool { tables[table.uppercased()] != nil }

  /// Whether nothing keeps a row from standing twice in a table.
  func lacksKey(_ table: String) -> Bool { tables[table.uppercased()]?.hasKey != true }

  package func has(_ column: String, in table: String) -> Bool {
    tables[table.uppercased()]?.has(column.uppercased()) ?? false
  }

  /// Throws `.invalidStore` where the file has no such table, or one that lacks some of these columns.
  package func require(_ wanted: [String], in table: String) throws {
    guard let found = tables[table] ?? tables[table.uppercased()] else {
      throw GraphError(
        .invalidStore, message: "\(path) is damaged: it has no table \(table), which its model asks for")
    }
    if wanted.allSatisfy(found.has) { return }
    try Self.require(wanted, in: table, found: found.columns, path: path)
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
