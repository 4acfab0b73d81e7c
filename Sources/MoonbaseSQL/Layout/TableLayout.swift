package import MoonbaseModel

/// A table as its `CREATE TABLE` statement declares it.
///
/// Columns are added in any order and sorted at the end (`orderedColumns`), because Core Data's order depends on all of
/// them. Every entity table begins with `Z_PK`, `Z_ENT` and `Z_OPT`.
package struct TableLayout: Sendable {
  /// A column with its declared type.
  package struct Column: Sendable {
    /// The name in upper case.
    package var name: String
    /// The declared type, as `Dialect.type(_:)`.
    package var type: String
    /// The rank, the first key of Core Data's order of columns; entity and name follow.
    package var rank: Int
    /// The index of the declaring entity.
    package var entity: EntityIndex
    /// The name of the property.
    package var property: String
  }

  /// `Z` and the name of the root entity in upper case.
  package var name: String
  /// The columns after the three of the format, in the order in which they were claimed.
  package var columns: [Column] = []

  /// Whether two properties wanted the same name.
  private(set) var hasCollision = false
  /// The names in use, in upper case.
  private var names: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]

  /// Makes a table for an expected number of columns. The expected number only saves reallocations.
  package init(name: String, expecting count: Int = 0) {
    self.name = name
    guard count > 0 else { return }
    names.reserveCapacity(count + names.count)
    columns.reserveCapacity(count)
  }

  /// The names of the format's columns, in upper case.
  var takenNames: Set<String> { names }

  /// Reserves a free name: the wanted name, or the name with the lowest free number. A property may have the name of a
  /// column in use: `Person.pk` and `Z_PK` do not clash, but two properties that differ in case do.
  package mutating func claim(_ wanted: String) -> String {
    var name = wanted
    var suffix = 0
    while !names.insert(name).inserted {
      suffix += 1
      name = "\(wanted)\(suffix)"
      hasCollision = true
    }
    return name
  }

  /// The columns in order: integers and to-one columns by entity, the others by type. The order is that of files
  /// written by Core Data.
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
