/// Gives indexes names of their own. What SQLite would refuse, or leave out unseen with a unique constraint, is two indexes of
/// one name; names are put together of the model's, so that two may well come out alike.
package struct IndexNames {
  package struct Index: Hashable {
    package var kind: String
    package var name: String
    package var table: String
    /// The columns as SQL.
    package var columns: String
    /// What picks the rows that it has, as SQL; nil for all of them.
    package var condition: String?

    package init(kind: String, name: String, table: String, columns: String) {
      (self.kind, self.name, self.table, self.columns) = (kind, name, table, columns)
    }
  }

  private let tables: [String]

  package init(tables: [String]) { self.tables = tables }

  /// The statements that make the indexes; one asked for twice is made once.
  package func statements(_ indexes: [Index]) -> [String] {
    var taken = Set(tables.map { $0.lowercased() })
    var made: Set<Index> = []
    return indexes.filter { made.insert($0).inserted }.map { index in
      let name = Self.free(index.name, taken: &taken)
      let rows = index.condition.map { " WHERE \($0)" } ?? ""
      return "CREATE \(index.kind) \(identifier(name)) ON \(identifier(index.table)) (\(index.columns))\(rows)"
    }
  }

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
