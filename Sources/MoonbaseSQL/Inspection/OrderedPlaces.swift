package import MoonbaseModel

/// The column with the positions of an ordered relationship's destinations.
///
/// Made for a check or a repair. The column is `Z_FOK_…`, in the table of the destinations or in the pair table
/// (`OrderStatements`).
package struct OrderedPlaces {
  /// The relationship, and the entity that declares it.
  package let property: ResolvedProperty
  /// The layout of the owner.
  package let owner: EntityLayout
  /// The column with the positions.
  let column: String
  /// The column with the owner's key.
  let ownerColumn: String
  /// Reads and writes positions.
  package let statements: OrderStatements
  /// The quoted table with both columns.
  private let source: String

  /// The columns of all ordered relationships, except those missing in the file.
  package static func all(of layout: StoreLayout, dialect: Dialect) -> [OrderedPlaces] {
    layout.entities.compactMap(\.self).flatMap { owner in
      zip(owner.entity.properties, owner.slots).compactMap { property, slot in
        property.declaringEntity == owner.entity.index
          ? OrderedPlaces(of: property, at: slot, owner: owner, in: layout, dialect: dialect) : nil
      }
    }
  }

  /// Nil for a relationship without positions in the file.
  private init?(
    of property: ResolvedProperty, at slot: SlotLayout, owner: EntityLayout, in layout: StoreLayout, dialect: Dialect
  ) {
    switch slot {
    case .foreignKey(let toOne, let destination):
      guard let column = toOne.orderColumn, let members = layout.entities[destination] else { return nil }
      (self.column, ownerColumn, source) = (column, toOne.column, identifier(members.table))
      statements = OrderStatements(toOne, table: members.table, column: column, dialect: dialect)
    case .join(let join):
      guard let column = join.orderColumn else { return nil }
      (self.column, ownerColumn, source) = (column, join.ownerColumn, identifier(join.table))
      statements = OrderStatements(join, column: column, dialect: dialect)
    case .attribute, .composite, .none, .toOne, .lost: return nil
    }
    (self.property, self.owner) = (property, owner)
  }

  /// Selects owners with the number of destinations, and the number without a position of their own.
  package var unordered: String {
    let (owner, place) = (identifier(ownerColumn), identifier(column))
    return "SELECT \(owner), COUNT(*), COUNT(*) - COUNT(DISTINCT \(place)) FROM \(source) WHERE \(owner) IS NOT NULL "
      + "GROUP BY 1 HAVING COUNT(*) > COUNT(DISTINCT \(place)) ORDER BY 1"
  }
}
