/// Gives indexes unique names. Names derived from the model may coincide. SQLite refuses two indexes with the same
/// name, or ignores the second one for a unique constraint.
///
/// For example, a second `Z_Person_byName` becomes `Z_Person_byName_1`. Used when a file is made and when indexes are
/// renewed after a migration.
package struct IndexNames {
  /// An index, before its name is made unique.
  package struct Index: Hashable {
    /// The keyword of the statement: `INDEX` or `UNIQUE INDEX`.
    package var kind: String
    /// The wanted name.
    package var name: String
    /// The table of the index.
    package var table: String
    /// The columns as SQL.
    package var columns: String
    /// The condition of the indexed rows as SQL. Nil for all rows.
    package var condition: String?

    /// An index over all rows. Set `condition` afterwards for a partial index.
    package init(kind: String, name: String, table: String, columns: String) {
      (self.kind, self.name, self.table, self.columns) = (kind, name, table, columns)
    }
  }

  /// Indexes and tables share a namespace in SQLite.
  private let tables: [String]

  /// Makes names that differ from the names of these tables.
  package init(tables: [String]) { self.tables = tables }

  /// The statements that create the indexes, without duplicates. In the given order. Equal indexes, with the same name,
  /// table and columns, are created once.
  package func statements(_ indexes: [Index]) -> [String] {
    named(indexes).map { name, index in
      let rows = index.condition.map { " WHERE \($0)" } ?? ""
      return "CREATE \(index.kind) \(identifier(name)) ON \(identifier(index.table)) (\(index.columns))\(rows)"
    }
  }

  /// The indexes without duplicates, with their unique names.
  package func named(_ indexes: [Index]) -> [(name: String, index: Index)] {
    var taken = Set(tables.map { $0.lowercased() })
    var made: Set<Index> = []
    return indexes.filter { made.insert($0).inserted }.map { (Self.free($0.name, taken: &taken), $0) }
  }

  /// The wanted name, or the name with the lowest free number.
  private static func free(_ wanted: String, taken: inout Set<String>) -> String {
    var name = wanted
    var suffix = 0
    while !taken.insert(name.lowercased()).inserted {
      suffix += 1
      name = "\(wanted)_\(suffix)"
    }
    return name
  }
}
