package import MoonbaseGraph
package import MoonbaseModel

/// The place of a property in the file.
///
/// A read or a save switches over this place instead of asking the model. Properties inherited from a parent have the
/// same place in all subentities.
package enum SlotLayout: Sendable {
  /// No place: a transient property.
  case none
  /// A column.
  case attribute(column: String, kind: ColumnKind)
  /// The columns of the elements.
  case composite(CompositeLayout)
  /// A column with the destination's key.
  case toOne(ToOneLayout)
  /// The to-one column of the destinations.
  case foreignKey(ToOneLayout, destination: EntityIndex)
  /// A pair table.
  case join(JoinLayout)
  /// A column or table that the file lacks, or whose form is not known. Reading the property throws the error.
  case lost(GraphError)
}

/// The columns of a to-one relationship.
///
/// For example, `Employee.department` has the column `ZDEPARTMENT`. If `Department` has subentities, `Z3_DEPARTMENT`
/// holds the entity; if `Department.employees` is ordered, `Z_FOK_DEPARTMENT` holds the place.
package struct ToOneLayout: Sendable {
  /// The column with the destination's key.
  package var column: String
  /// The column with the destination's entity number, where the destination entity has subentities.
  package var entityColumn: String?
  /// The column with the place among the owner's ordered destinations, where the inverse is ordered.
  package var orderColumn: String?
  /// The index of the destination entity in the model.
  package var destination: EntityIndex
}

/// A pair table, seen from one side.
///
/// Both sides of a many-to-many relationship share the table and see owner and destination swapped.
package struct JoinLayout: Sendable {
  /// The table.
  package var table: String
  /// The column with the owner's key.
  package var ownerColumn: String
  /// The column with the destination's key.
  package var destinationColumn: String
  /// The column with the place among the owner's destinations, where the relationship is ordered.
  package var orderColumn: String?
  /// Whether the relationship is its own inverse, so that each pair counts in both directions.
  package var isReflexive: Bool
  /// Whether the table may contain a pair more than once.
  package var mayRepeat = false
  /// The index of the destination entity in the model.
  package var destination: EntityIndex
}

extension JoinLayout {
  /// The table as a source of distinct pairs. For a table with repeated pairs a subquery; else the table's name.
  var source: String {
    let name = identifier(table)
    guard mayRepeat else { return name }
    let key = "\(identifier(ownerColumn)), \(identifier(destinationColumn))"
    let place = orderColumn.map { ", MIN(\(identifier($0))) AS \(identifier($0))" } ?? ""
    return "(SELECT \(key)\(place) FROM \(name) GROUP BY \(key))"
  }
}

extension StoreLayout {
  /// Whether rows may refer to external files. Stores without external data need no folder beside the file.
  package var namesFiles: Bool {
    entities.contains { entity in
      entity?.slots.contains { if case .attribute(_, .externalData) = $0 { true } else { false } } ?? false
    }
  }
}
