package import MoonbaseModel

/// The objects that a save moves away by one-to-one relationships, or deletes.
///
/// Both rows of such a relationship hold it. A context that read one of them before another context saved both takes the two apart
/// without writing it: it would go on pointing at the object.
package struct OneToOneEnds {
  /// One such relationship, by the entity that declares it.
  package struct Side: Hashable {
    /// The index of the entity.
    package let entity: Int
    /// The relationship's slot.
    package let slot: Slot
    /// The slot of the relationship back, in the destination's entity.
    package let inverse: Slot
    /// The index of the destination's entity.
    package let destination: Int
  }

  /// The objects by relationship.
  package private(set) var ids: [Side: [ManagedObjectID]] = [:]

  /// Collects them from rows that are changed and deleted.
  package init(_ changes: StoreChanges, in model: ResolvedModel) {
    changes.updated.forEachStretch { page, places, run in
      for side in model.entity(page.entity)?.oneToOneSides(among: run.slots) ?? [] {
        ids[side, default: []] += places.map(page.id)
      }
    }
    for (symbol, deleted) in Dictionary(grouping: changes.deleted.map(\.id), by: \.entitySymbol) {
      guard let entity = model.entity(symbol) else { continue }
      for side in entity.oneToOneSides(among: entity.toOneSlots) where entity.deleteRule(side.slot) != .noAction {
        ids[side, default: []] += deleted
      }
    }
  }
}

extension ResolvedEntity {
  /// Relationships that are saved on both sides.
  fileprivate func oneToOneSides(among slots: [Slot]) -> [OneToOneEnds.Side] {
    slots.compactMap { slot in
      let property = properties[slot]
      guard let relationship = property.relationship, let inverse = oneToOneInverse(of: slot) else { return nil }
      return OneToOneEnds.Side(
        entity: property.declaringEntity, slot: slot, inverse: inverse, destination: relationship.destination)
    }
  }

  /// The slot of the relationship back of one that is saved on both sides; nil for other properties.
  package func oneToOneInverse(of slot: Slot) -> Slot? {
    let property = properties[slot]
    guard case .toOne(let relationship) = property.kind, !relationship.isInverseToMany, !property.isTransient else {
      return nil
    }
    return relationship.inverseSlot
  }

  fileprivate func deleteRule(_ slot: Slot) -> DeleteRule? { properties[slot].relationship?.description.deleteRule }
}
