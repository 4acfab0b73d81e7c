package import MoonbaseModel

/// The objects whose one-to-one relationships a save changes, and the objects that it deletes.
///
/// Both rows of a one-to-one relationship store the link. A context may have read only one of them before another
/// context saved the link. If the context then clears the link in that row, the other row would keep pointing at the
/// object.
package struct OneToOneEnds {
  /// A one-to-one relationship, by the entity that declares it.
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

  /// Collects the objects of changed and deleted rows.
  package init(_ changes: StoreChanges, in model: ResolvedModel) {
    changes.updated.forEachStretch { page, places, run in
      for side in model.entity(page.entity)?.oneToOneSides(among: run.slots) ?? [] {
        ids[side, default: []] += places.map(page.id)
      }
    }
    for (symbol, deleted) in Dictionary(grouping: changes.deleted.map(\.id), by: \.entitySymbol) {
      guard let entity = model.entity(symbol) else { continue }
      for side in entity.oneToOneSides(among: entity.toOneSlots)
      where entity.deleteRule(side.slot)?.concernsDestinations == true {
        ids[side, default: []] += deleted
      }
    }
  }
}

extension ResolvedEntity {
  /// The one-to-one relationships among some slots, which are stored on both sides.
  fileprivate func oneToOneSides(among slots: [Slot]) -> [OneToOneEnds.Side] {
    slots.compactMap { slot in
      let property = properties[slot]
      guard let relationship = property.relationship, let inverse = oneToOneInverse(of: slot) else { return nil }
      return OneToOneEnds.Side(
        entity: property.declaringEntity, slot: slot, inverse: inverse, destination: relationship.destination)
    }
  }

  /// The slot of the inverse of a one-to-one relationship; nil for other properties.
  package func oneToOneInverse(of slot: Slot) -> Slot? {
    let property = properties[slot]
    guard case .toOne(let relationship) = property.kind, !relationship.isInverseToMany, !property.isTransient else {
      return nil
    }
    return relationship.inverseSlot
  }

  fileprivate func deleteRule(_ slot: Slot) -> DeleteRule? { properties[slot].relationship?.description.deleteRule }
}
