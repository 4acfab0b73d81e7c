import MoonbaseModel

/// The links of to-many relationships that a save writes.
extension SavePlan {
  /// Plans the changed links of an object's to-many relationships. Throws for a destination that was deleted.
  mutating func planLinks(of object: ManagedObject) throws {
    for (slot, state) in object.relationships where state.hasChanges {
      guard let links = try links(of: object, slot: slot, state: state) else { continue }
      plans[try planIndex(of: links.owner)].changes.links.append(links)
    }
  }

  /// The changed links of a relationship; nil if there are none.
  ///
  /// Separate from `planLinks`, because a copy of the plan that lives while the plan grows would make every append copy
  /// it. New members without a row, and members that this save deletes, are errors.
  private func links(of object: ManagedObject, slot: Slot, state: ToManyState) throws -> StoreChanges.Links? {
    guard let relationship = object.entity.properties[slot].relationship, !relationship.description.isTransient
    else { return nil }
    let owner = permanentID(object.objectID)
    let ownsLink = ownsLink(for: relationship, slot: slot, of: object)
    func speaks(of destination: ManagedObjectID) -> Bool { ownsLink ?? (owner.key <= destination.key) }
    var added: [ManagedObjectID] = []
    for id in state.added {
      let destination = permanentID(id)
      try checkSaved(destination, from: object, slot: slot)
      try checkPresence(of: id, from: object, slot: slot)
      if speaks(of: destination) { added.append(destination) }
    }
    let removed = state.removed.filter { !$0.isTemporaryID && speaks(of: $0) }
    let order = relationship.isOrdered && state.isReordered ? try order(of: object, slot: slot, state: state) : nil
    guard order != nil || !added.isEmpty || !removed.isEmpty else { return nil }
    return StoreChanges.Links(owner: owner, slot: slot, added: added, removed: removed, order: order)
  }

  /// The changed order of an ordered relationship; nil if it is unchanged. A new order may be described by moved
  /// stretches only (`StoreChanges.Order`).
  private func order(of object: ManagedObject, slot: Slot, state: ToManyState) throws -> StoreChanges.Order? {
    // Added destinations may have been removed again.
    if let order = state.changedOrder(id: permanentID) { return order.isEmpty ? nil : order }
    return .all(try object.memberIDs(slot).map { permanentID($0) })
  }

  /// Whether this side of a relationship lists its changed links, since both sides of a many-to-many relationship
  /// record a change. Nil for a relationship that is its own inverse: then the keys of each pair decide. The rows
  /// of the destinations hold the links of one-to-many relationships.
  private func ownsLink(for relationship: ResolvedRelationship, slot: Slot, of object: ManagedObject) -> Bool? {
    guard let inverse = relationship.inverseSlot else { return true }
    guard relationship.isManyToMany else { return false }
    let own = object.entity.properties[slot].id
    let other = context.model.destination(of: relationship).properties[inverse].id
    return own == other ? nil : own < other
  }
}
