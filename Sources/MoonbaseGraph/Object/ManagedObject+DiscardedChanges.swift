import MoonbaseModel

/// Effects on other objects when an object's unsaved changes or deletion are discarded by a refresh.
///
/// Both rows of a one-to-one relationship contain it, and each save writes both, so the two sides have to agree before.
extension ManagedObject {
  /// A to-one relationship whose destination may differ from the row's.
  ///
  /// Collected before the object becomes a fault, and applied by `retie` when its row is known.
  struct Tie {
    /// The slot of the relationship.
    let slot: Slot
    /// The current destination.
    let value: Value
    /// The destination in the row.
    let saved: Value
    /// Whether the object was removed from its list in the row's destination.
    let isOut: Bool
  }

  /// To-one relationships whose destinations may differ from the row's; for a deleted object all, because their
  /// destinations have removed it. Empty for a fault and for an object without changes.
  final var unsavedTies: [Tie] {
    guard state.contains(.listed), !isFault else { return [] }
    return entity.toOneSlots.compactMap { slot in
      guard isDeleted || changed.contains(slot), let (relationship, inverse) = inverse(of: slot) else { return nil }
      let saved = snapshot?.values[slot] ?? .null
      let list = otherSide(of: saved, along: relationship)?.relationships[inverse]
      return Tie(
        slot: slot, value: current(slot) ?? .null, saved: saved, isOut: list?.removed.contains(objectID) == true)
    }
  }

  /// Many-to-many relationships with deleted destinations, whose deletion is kept.
  ///
  /// The destinations of a deleted object are included, since they were not removed from it. Throws errors of the
  /// store.
  final func deletedDestinations() throws -> [(slot: Slot, ids: [ManagedObjectID])] {
    try entity.toManySlots.compactMap { slot in
      guard let relationship = entity.properties[slot].relationship, relationship.isManyToMany,
        !relationship.description.isTransient
      else { return nil }
      var ids = relationships[slot].map { Array($0.removed) } ?? []
      if isDeleted { ids += try memberIDs(slot) }
      let gone = ids.filter { otherSide(of: .objectID($0), along: relationship)?.isDeleted == true }
      return gone.isEmpty ? nil : (slot, gone)
    }
  }

  /// Records that members of the object's one-to-many relationships were removed or deleted by the object's deletion.
  ///
  /// The deletion is discarded, while these changes of the members are kept. Called before the object becomes a fault.
  final func noteMembersLost() throws {
    guard isDeleted else { return }
    for (slot, state) in relationships {
      guard let relationship = entity.properties[slot].relationship, !relationship.isManyToMany,
        let inverse = relationship.inverseSlot
      else { continue }
      // The list may have been unloaded since the rules were applied, because another context changed it.
      if !state.isLoaded { _ = try memberIDs(slot) }
      for id in Array(state.members) {
        guard let other = otherSide(of: .objectID(id), along: relationship) else { continue }
        guard other.isDeleted || !other.isFault && !other.pointsAt(self, slot: inverse) else { continue }
        alter(id, of: state, slot: slot, because: .row) { $0.remove(id) }
      }
    }
  }

  /// Sets a relationship to the row's destination, and updates the other side of a one-to-one relationship.
  ///
  /// A deleted destination deletes this object or removes it, by its delete rule. Throws errors of the store, and of
  /// deleting this object.
  final func retie(_ tie: Tie, to new: Value) throws {
    let (slot, old) = (tie.slot, tie.value)
    guard let (relationship, inverse) = inverse(of: slot) else { return }
    let isOneToOne = !relationship.isInverseToMany
    if isOneToOne, old != new, let former = otherSide(of: old, along: relationship), !former.isDeleted {
      try former.detach(objectID, slot: inverse)
    }
    guard let other = otherSide(of: new, along: relationship) else { return }
    if other.isDeleted {
      // If `isOut` is false, the destination's deletion removed the object, and undoing the deletion restores it.
      let isOut = tie.isOut || tie.saved != new
      return try follow(deletionOf: other, slot: slot, inverse: inverse, leaving: isOut)
    }
    if isOneToOne, !other.isFault { try other.attach(objectID, slot: inverse) }
  }

  /// Applies unsaved changes of other objects after a newer row: a destination that was deleted, or that has another
  /// partner, keeps its change, and this object is adapted. Called after a newer row was adopted.
  final func followUnsavedChanges() throws {
    guard !isDeleted else { return }
    for slot in entity.toOneSlots where !changed.contains(slot) {
      guard let (relationship, inverse) = inverse(of: slot),
        let other = otherSide(of: current(slot) ?? .null, along: relationship)
      else { continue }
      if other.isDeleted {
        try follow(deletionOf: other, slot: slot, inverse: inverse, leaving: true)
      } else if !relationship.isInverseToMany, other.changed.contains(inverse), !other.pointsAt(self, slot: inverse) {
        try setStoredValue(.null, slot: slot)
      }
    }
  }

  /// After an undo restored the object, removes destinations that are still deleted.
  ///
  /// The object's row was read after their deletion and refers to them again.
  final func leaveDeletedDestinations() throws {
    for slot in entity.toOneSlots where !changed.contains(slot) {
      guard let (relationship, inverse) = inverse(of: slot),
        let other = otherSide(of: current(slot) ?? .null, along: relationship), other.isDeleted
      else { continue }
      let rule = other.entity.properties[inverse].relationship?.description.deleteRule
      if rule == .cascade || rule == .nullify { try setStoredValue(.null, slot: slot) }
    }
  }

  /// Applies the delete rule of a deleted destination to this object.
  ///
  /// With `leaving`, the destination's list stays without this object even if the deletion is undone. Rules other than
  /// `cascade` and `nullify` do nothing.
  private func follow(deletionOf other: ManagedObject, slot: Slot, inverse: Slot, leaving: Bool) throws {
    let rule = other.entity.properties[inverse].relationship?.description.deleteRule
    guard rule == .cascade || rule == .nullify else { return }
    if leaving { other.lose(objectID, slot: inverse) }
    if rule == .cascade { try context?.delete(self) } else { try setStoredValue(.null, slot: slot) }
  }

  /// Removes a member from a list, by an unsaved change. Called on the deleted destination.
  private func lose(_ id: ManagedObjectID, slot: Slot) {
    guard case .toMany = entity.properties[slot].kind else { return }
    let known = toManyState(slot)
    // The list was read before a row that refers to it.
    if !known.contains(id) { unload(known, slot: slot) }
    alter(id, of: known, slot: slot, because: .row) { $0.remove(id) }
    didChange(slot)
  }

  /// A relationship with the slot of its inverse; nil without an inverse.
  private func inverse(of slot: Slot) -> (ResolvedRelationship, Slot)? {
    guard let relationship = entity.properties[slot].relationship, let inverse = relationship.inverseSlot else {
      return nil
    }
    return (relationship, inverse)
  }
}
