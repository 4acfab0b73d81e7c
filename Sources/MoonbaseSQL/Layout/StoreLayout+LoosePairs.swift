package import MoonbaseModel

/// Both ends of a pair table are checked, so that a deletion leaves no dangling pairs.
extension StoreLayout {
  /// The pair tables of relationships to a table whose rows have no inverse there. Deleting a row must delete its pairs
  /// explicitly, because no relationship of the row itself does.
  package func loosePairs(ofTable root: EntityIndex) -> [JoinLayout] {
    entities.compactMap(\.self).flatMap { owner in
      zip(owner.entity.properties, owner.slots).compactMap { property, slot -> JoinLayout? in
        guard case .join(let join) = slot, property.declaringEntity == owner.entity.index,
          model.entities[join.destination].root == root, !isKept(by: property, in: join)
        else { return nil }
        return join
      }
    }
  }

  /// Whether the destinations have a relationship in the same pair table. Then the row's own relationship deletes the
  /// pairs.
  private func isKept(by property: ResolvedProperty, in join: JoinLayout) -> Bool {
    guard let inverse = property.relationship?.inverseSlot, case .join? = entities[join.destination]?.slots[inverse]
    else { return false }
    return true
  }
}
