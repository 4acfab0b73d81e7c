import MoonbaseGraph
import MoonbaseModel

/// The schema of a file: its tables with their columns, and the entity numbers.
///
/// Read once when a store is opened; the layout is built against it. SQLite compares names without case, therefore all
/// lookups are made in upper case.
package struct FileSchema: Sendable {
  /// A table of the file.
  package struct Table: Sendable {
    /// The columns in order, in upper case.
    package private(set) var columns: [String] = []
    /// The declared types of the columns. In SQLite they decide about the affinities of the columns, and are nil where
    /// columns may declare more than a type. On a server they are the types of the values, with their collation.
    package private(set) var types: [String]?
    /// Whether the table has a primary key.
    package var hasKey = false
    /// The positions of the columns in a wide table, so that lookups are not quadratic.
    private var places: [String: Int]?

    /// Up to this number a linear search is faster.
    private static let fewColumns = 24

    /// Makes a table from its columns in upper case. `types` correspond to `columns` by index.
    package init(columns: [String], types: [String]? = nil, hasKey: Bool) {
      (self.columns, self.types, self.hasKey) = (columns, types, hasKey)
      guard columns.count > Self.fewColumns else { return }
      places = Dictionary(zip(columns, columns.indices), uniquingKeysWith: { first, _ in first })
    }

    /// The position of a column, whose name is in upper case. Constant time for wide tables.
    package func place(_ column: String) -> Int? {
      if let places { places[column] } else { columns.firstIndex(of: column) }
    }

    /// Whether the table has a column, given in upper case.
    package func has(_ column: String) -> Bool { place(column) != nil }
  }

  /// The tables by name in upper case.
  package let tables: [String: Table]
  /// `Z_ENT` by `Z_NAME`. From the rows of `Z_PRIMARYKEY`.
  package let numbers: [String: Int64]
  /// The file, for messages.
  private let path: String
  /// The name of the schema on a server, which a statement of a person needs. Nil for a file.
  let name: String?
  /// The statement that removes what depends on the types of columns, before a person changes a type.
  let preparation: String?

  /// Makes a schema from tables and entity numbers.
  package init(
    tables: [String: Table], numbers: [String: Int64], path: String, name: String? = nil, preparation: String? = nil
  ) {
    (self.name, self.preparation) = (name, preparation)
    self.tables = tables
    self.numbers = numbers
    self.path = path
  }

  /// Whether the file has a table, in any letter case.
  package func has(_ table: String) -> Bool { tables[table.uppercased()] != nil }

  /// Whether a table has no key, so that a row may occur twice.
  func lacksKey(_ table: String) -> Bool { tables[table.uppercased()]?.hasKey != true }

  /// Whether a table of the file has a column, in any letter case.
  package func has(_ column: String, in table: String) -> Bool {
    tables[table.uppercased()]?.has(column.uppercased()) ?? false
  }

  /// Throws `.invalidStore` where the file lacks the table or some of the columns. The first missing column is named in
  /// the message.
  package func require(_ wanted: [String], in table: String) throws {
    guard let found = tables[table] ?? tables[table.uppercased()] else {
      throw GraphError(
        .invalidStore, message: "\(path) is damaged: it has no table \(table), which its model asks for")
    }
    if wanted.allSatisfy(found.has) { return }
    try Self.require(wanted, in: table, found: found.columns, path: path)
  }

  /// Throws `.invalidStore` where a table has no primary key, so that a row may be there twice.
  package func requireKey(_ columns: [String] = ["Z_PK"], of table: String) throws {
    guard lacksKey(table) else { return }
    let place = [name, table].compactMap(\.self).map(identifier).joined(separator: ".")
    throw GraphError(
      .invalidStore,
      message: "\(path) is damaged: table \(table) has no primary key: remove rows that are there twice and make it "
        + "(ALTER TABLE \(place) ADD PRIMARY KEY (\(columns.map(identifier).joined(separator: ", "))))")
  }

  /// Throws `.invalidStore` where a column has another type, for an engine whose columns have types.
  package func require(type: String, of columns: [String], in table: String) throws {
    guard let found = tables[table.uppercased()], let types = found.types else { return }
    for column in columns {
      guard let place = found.place(column), types[place] != type else { continue }
      let lack = LayoutLacks.Column(name: column, type: type, present: types[place], table: table, in: self)
      throw GraphError(
        .invalidStore,
        message: "\(path) is damaged: column \(column) of table \(table) has the type \(types[place]), and not "
          + "\(type): restore the store from a backup, or give the column its type (\(lack.statement))")
    }
  }

  /// Throws `.invalidStore` where some of the wanted columns are not among the found columns. For columns that were
  /// read separately. `wanted` is in upper case.
  package static func require(_ wanted: [String], in table: String, found: some Collection<String>, path: String) throws
  {
    let found = Set(found.map { $0.uppercased() })
    guard let missing = wanted.first(where: { !found.contains($0) }) else { return }
    throw GraphError(
      .invalidStore,
      message: "\(path) is damaged: table \(table) has no column \(missing): restore the store from a backup")
  }
}
