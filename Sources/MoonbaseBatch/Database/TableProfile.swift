import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// A table with the profiles of its columns.
///
/// The profile reads all rows once and keeps no row. It answers how the columns become attributes,
/// and which keys are unique.
final class TableProfile {
  /// The declaration of the table.
  let table: DatabaseSchema.Table
  /// The number of rows.
  private(set) var rows = 0
  /// The profiles in the order of the columns; empty before `read`.
  private var profiles: [ColumnProfile] = []

  /// A profile without rows.
  init(_ table: DatabaseSchema.Table) { self.table = table }

  /// Reads all rows. Returns false if `progress` ended it.
  ///
  /// `progress` receives the number of rows, every 1024 rows, and returns whether to end. Reading
  /// is charged as work of the host.
  func read(_ database: OpenDatabase, progress: (Int) -> Bool) throws -> Bool {
    // The table's indexes tell which columns are unique.
    let budget = DistinctBudget(slots: 0)
    let names = table.columns.map(\.name)
    profiles = names.map { ColumnProfile($0, budget) }
    let list = names.map { "t.\($0.sqlName)" }.joined(separator: ", ")
    let reader = try TableReader("SELECT \(list) FROM \(table.name.sqlName) t", names: names, in: database)
    while try reader.next() {
      // The work is charged by the values of the row.
      try HostWork.charge(names.count)
      rows += 1
      for index in names.indices { profiles[index].add(reader.field(index), textsAreTyped: true) }
      if rows & 1023 == 0, progress(rows) { return false }
    }
    for index in reader.columnsOfWrongTexts { profiles[index].noteWrongText() }
    return true
  }

  /// The name of a column with the table's capitalisation, ignoring case; nil if there is none.
  func column(_ name: String) -> String? {
    table.columns.first { $0.name.lowercased() == name.lowercased() }?.name
  }

  /// The profile of a column, by its exact name.
  func profile(_ column: String) -> ColumnProfile {
    profiles[table.columns.firstIndex { $0.name == column } ?? 0]
  }

  /// The declaration of a column.
  func declaration(_ column: String) -> DeclaredColumn {
    let found = table.columns.first { $0.name == column }
    return DeclaredColumn(
      declaration: found?.declared ?? "", isRequired: found?.isRequired ?? false,
      isKey: table.uniqueKeys.contains { $0.contains(column) })
  }

  /// The attribute of a column under a name of the model.
  func guess(_ column: String, named name: String) -> AttributeGuess {
    AttributeGuess(profile(column), named: name, rows: rows, declared: declaration(column))
  }

  /// Whether every row has a value in a column.
  func isComplete(_ column: String) -> Bool { profile(column).count == rows }

  /// Whether a column has a value in each row and is declared not to be null.
  func isRequired(_ column: String) -> Bool { isComplete(column) && declaration(column).isRequired }

  /// Whether a unique key of the table is also unique as attributes: 1 and '1' may become the same text.
  func isUnique(_ key: [String], _ connection: Connection) throws -> Bool {
    var isMixed = false
    for column in key {
      let profile = profile(column)
      if declaration(column).type(of: profile).0 == .transformable || profile.hasWrongText { return false }
      if profile.kinds.contains(.text), profile.kinds != .text { isMixed = true }
    }
    guard isMixed else { return true }
    let list = key.map { "CAST(\($0.sqlName) AS TEXT)" }.joined(separator: ", ")
    let present = key.map { "\($0.sqlName) IS NOT NULL" }.joined(separator: " AND ")
    let doubled = "SELECT 1 FROM \(table.name.sqlName) WHERE \(present) GROUP BY \(list) HAVING COUNT(*) > 1"
    return try connection.integer("SELECT EXISTS (\(doubled))") == 0
  }

  /// Whether values of a column are unchanged in a JSON list.
  ///
  /// Real numbers and bytes change their form in JSON, so keys with them are compared one column at
  /// a time.
  func standsInLists(_ column: String) -> Bool {
    let profile = profile(column)
    return profile.kinds == .text || profile.kinds == .number && profile.forms.contains(.integer)
      || profile.kinds.isEmpty
  }
}
