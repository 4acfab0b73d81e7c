package import MoonbaseGraph
package import MoonbaseModel

/// Where a property lies in the file.
package enum SlotLayout: Sendable {
  /// Nowhere: a transient property.
  case none
  /// In a column.
  case attribute(column: String, kind: ColumnKind)
  /// In the columns of its elements.
  case composite(CompositeLayout)
  /// In a column that holds the destination's key.
  case toOne(ToOneLayout)
  /// In the destinations' to-one column.
  case foreignKey(ToOneLayout, destination: EntityIndex)
  /// In a table of pairs.
  case join(JoinLayout)
  /// In a column or a table that the file lacks, or of which nobody knows the form: what says so when it is read.
  case lost(GraphError)
}

/// A to-one relationship's columns.
package struct ToOneLayout: Sendable {
  /// Holds the destination's key.
  package var column: String
  /// Holds the destination's entity number, where the destination entity has subentities.
  package var entityColumn: String?
  /// Holds the place among the owner's ordered destinations, where the inverse is ordered.
  package var orderColumn: String?
  /// The index of the destination entity in the model.
  package var destination: EntityIndex
}

/// A table of pairs, seen from one side.
package struct JoinLayout: Sendable {
  /// The table.
  package var table: String
  /// Holds the key of the relationship's owner.
  package var ownerColumn: String
  /// Holds the key of the destination.
  package var destinationColumn: String
  /// Holds the place among the owner's destinations, where the relationship is ordered.
  package var orderColumn: String?
  /// Whether the relationship is its own inverse, so that each pair counts both ways.
  package var isReflexive: Bool
  /// Whether a pair may stand in the table more than once.
  package var mayRepeat = false
  /// The index of the destination entity in the model.
  package var destination: EntityIndex
}

extension JoinLayout {
  /// The table as it is read: each pair once.
  var source: String {
    let name = identifier(table)
    guard mayRepeat else { return name }
    let key = "\(identifier(ownerColumn)), \(identifier(destinationColumn))"
    let place = orderColumn.map { ", MIN(\(identifier($0))) AS \(identifier($0))" } ?? ""
    return "(SELECT \(key)\(place) FROM \(name) GROUP BY \(key))"
  }
}

extension StoreLayout {
  /// Whether rows may name files with values.
  package var namesFiles: Bool {
    entities.contains { entity in
      entity?.slots.contains { if case .attribute(_, .externalData) = $0 { true } else { false } } ?? false
    }
  }
}
