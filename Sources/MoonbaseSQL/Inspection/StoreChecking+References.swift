import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The checks of relationships.
extension StoreChecking {
  /// Checks all relationships of an entity. Once for each entity of the model.
  package func checkReferences(of entity: EntityLayout) throws {
    for (property, slot) in zip(entity.entity.properties, entity.slots) {
      switch slot {
      case .toOne(let place):
        try checkDestination(of: property, at: place, in: entity)
        try checkOtherSide(of: property, at: place, in: entity)
      case .join(let join) where property.declaringEntity == entity.entity.index:
        let inverse = property.relationship.flatMap { relationship in
          relationship.inverseSlot.map { layout.model.entities[relationship.destination].property(at: $0) }
        }
        if let inverse, !isFirstSide(property, of: inverse) { continue }
        try checkPairs(of: property, in: join, of: entity)
      case .attribute, .composite, .none, .foreignKey, .join, .lost: break
      }
    }
  }

  /// Whether this side of a relationship comes first, so that data shared by both sides is checked once.
  private func isFirstSide(_ property: ResolvedProperty, of inverse: ResolvedProperty) -> Bool {
    property.id <= inverse.id
  }

  /// Reports to-one relationships whose destination is missing. The repair sets the reference to null, unless it is
  /// required.
  private func checkDestination(of property: ResolvedProperty, at place: ToOneLayout, in entity: EntityLayout) throws {
    guard let destination = layout.entities[place.destination] else { return }
    let (table, column) = (identifier(entity.table), identifier(place.column))
    let sql =
      "SELECT t.Z_PK, t.\(column) FROM \(table) t WHERE t.Z_ENT = \(entity.number) AND t.\(column) IS NOT NULL "
      + "AND \(RepairStatements.hasNoRow("t.\(column)", destination.table)) ORDER BY t.Z_PK"
    try forEachRow(of: sql) { row in
      try HostWork.charge()
      let id = id(row, entity)
      try tell(
        StoreFinding(
          kind: .reference, of: id, in: entity.table,
          message: "\(property.name) leads to \(destination.entity.name)/\(row.text(1)), which is not there"
            + (property.isOptional
              ? "" : "; it is required, so that --repair leaves it: give it another destination, or delete the object"),
          repair: property.isOptional ? .nullify(id, property: property.name) : .none))
    }
  }

  /// Checks that both rows of a one-to-one relationship agree, if both store it. Disagreeing rows are not repaired,
  /// since either may be right.
  private func checkOtherSide(of property: ResolvedProperty, at place: ToOneLayout, in entity: EntityLayout) throws {
    guard let relationship = property.relationship, let slot = relationship.inverseSlot,
      let destination = layout.entities[place.destination], case .toOne(let inverse) = destination.slots[slot],
      isFirstSide(property, of: destination.entity.property(at: slot))
    else { return }
    let (table, column) = (identifier(entity.table), identifier(place.column))
    let sql =
      "SELECT t.Z_PK, d.Z_PK, d.\(identifier(inverse.column)) FROM \(table) t JOIN \(identifier(destination.table)) d "
      + "ON d.Z_PK = t.\(column) WHERE t.Z_ENT = \(entity.number) AND d.\(identifier(inverse.column)) IS NOT NULL "
      + "AND d.\(identifier(inverse.column)) <> t.Z_PK ORDER BY t.Z_PK"
    try forEachRow(of: sql) { row in
      try tell(
        StoreFinding(
          kind: .reference, of: id(row, entity), in: entity.table,
          message: "\(property.name) leads to \(destination.entity.name)/\(row.text(1)), whose "
            + "\(destination.entity.property(at: slot).name) leads to \(row.text(2)): set one of them"))
    }
  }

  /// Reports links with a missing end. The repair deletes these pairs.
  private func checkPairs(of property: ResolvedProperty, in join: JoinLayout, of entity: EntityLayout) throws {
    guard let destination = layout.entities[join.destination] else { return }
    let (owner, other) = (identifier(join.ownerColumn), identifier(join.destinationColumn))
    let sql =
      "SELECT \(owner), \(other) FROM \(identifier(join.table)) WHERE \(RepairStatements.hasNoRow(owner, entity.table)) "
      + "OR \(RepairStatements.hasNoRow(other, destination.table)) ORDER BY 1, 2"
    try forEachRow(of: sql) { row in
      try HostWork.charge()
      try tell(
        StoreFinding(
          kind: .reference, place: join.table,
          message: "\(entity.entity.name).\(property.name): the pair of \(row.text(0)) and \(row.text(1)) "
            + "names a row that is not there", repair: .file))
    }
  }
}
