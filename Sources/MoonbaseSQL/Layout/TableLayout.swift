package import MoonbaseModel

/// A table of the file as `CREATE TABLE` states it.
package struct TableLayout: Sendable {
  /// A column with its declared type.
  package struct Column: Sendable {
    package var name: String
    package var type: String
    /// Core Data's order: by rank, entity and name.
    package var rank: Int
    package var entity: EntityIndex
    /// The property's name.
    package var property: String
  }

  package var name: String
  package var columns: [Column] = []

  /// Names in use, in upper case.
  private var names: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]

  /// A table of which so many columns are expected.
  package init(name: String, expecting count: Int = 0) {
    self.name = name
    guard count > 0 else { return }
    names.reserveCapacity(count + names.count)
    columns.reserveCapacity(count)
  }

  /// The names that columns of the format have, in upper case.
  var takenNames: Set<String> { names }

  /// A free name: the wanted one, or with the first number behind it that is free.
  package mutating func claim(_ wanted: String) -> String {
    var name = wanted
    var suffix = 0
    while !names.insert(name).inserted {
      suffix += 1
      name = "\(wanted)\(suffix)"
    }
    return name
  }

  /// Integers and to-one columns stand by entity, the rest by type.
  package var orderedColumns: [Column] {
    let named = columns.map { (column: $0, name: $0.property.lowercased()) }
    return named.sorted { one, other in
      let (left, right) = (one.column, other.column)
      let early = (left.rank < 2, right.rank < 2)
      if early.0 != early.1 { return early.0 }
      return early.0
        ? (left.entity, left.rank, one.name) < (right.entity, right.rank, other.name)
        : (left.rank, left.entity, one.name) < (right.rank, right.entity, other.name)
    }.map(\.column)
  }
}
