package import MoonbaseModel

extension StoreLayout {
  /// The tables of pairs whose destinations are rows of a table, where these rows' own relationships do not speak of the pairs: without
  /// an inverse nothing else takes a pair away when its destination goes.
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

  /// Whether the destinations have a relationship that lies in the same table.
  private func isKept(by property: ResolvedProperty, in join: JoinLayout) -> Bool {
    guard let inverse = property.relationship?.inverseSlot, case .join? = entities[join.destination]?.slots[inverse]
    else { return false }
    return true
  }
}
