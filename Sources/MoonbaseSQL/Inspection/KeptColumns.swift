package import MoonbaseModel

/// The columns of an entity that are read for the check, after the key.
///
/// The columns of attributes and of composites' elements. Relationships are checked by queries instead.
package struct KeptColumns {
  /// The columns, in the order of the result.
  package private(set) var columns: [String] = []
  /// The attributes with their result columns.
  package private(set) var attributes: [(property: ResolvedProperty, column: Int, kind: ColumnKind)] = []
  /// The composites with their result columns.
  package private(set) var composites: [(property: ResolvedProperty, composite: RowSelect.Composite)] = []

  /// Collects the columns of an entity.
  package init(_ layout: EntityLayout) {
    for (property, slot) in zip(layout.entity.properties, layout.slots) {
      switch slot {
      case .attribute(let column, let kind): attributes.append((property, place(column), kind))
      case .composite(let composite):
        let places = composite.leaves.map { RowSelect.Place.attribute($0.kind, Int32(place($0.column))) }
        composites.append((property, RowSelect.Composite(layout: composite, places: places)))
      case .none, .toOne, .foreignKey, .join, .lost: break
      }
    }
  }

  /// Adds a column and returns its place in the result, from 1.
  private mutating func place(_ column: String) -> Int {
    columns.append(column)
    return columns.count
  }
}
