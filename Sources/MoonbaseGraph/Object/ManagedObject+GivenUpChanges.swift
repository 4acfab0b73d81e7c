import MoonbaseModel

/// What other objects have of the unsaved changes, and of the deletion, of an object that is read anew.
///
/// Both rows of a one-to-one relationship hold it, and each save writes both: they have to agree before.
extension ManagedObject {
  /// A to-one relationship that may not lead where the row does.
  struct Tie {
    let slot: Slot
    /// Where it leads.
    let value: Value
    /// Where the row leads.
    let saved: Value
    /// Whether the object was taken out of the list to which that is.
    let isOut: Bool
  }

  /// To-one relationships that may not lead where the row does; all of an object that is to go, because its destinations do not lead to it
  /// any more.
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

  /// Many-to-many relationships with destinations that are to go. The deletions stay. Of an object that is to go itself they are
  /// still destinations, for nobody took them out of it.
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

  /// The object is not to go after all: of its one-to-many relationships those are out that its deletion cut off or deleted.
  /// These are changes of their own, and stay.
  final func noteMembersLost() throws {
    guard isDeleted else { return }
    for (slot, state) in relationships {
      guard let relationship = entity.properties[slot].relationship, !relationship.isManyToMany,
        let inverse = relationship.inverseSlot
      else { continue }
      // The list may have been forgotten since the rules were applied, because another context changed it.
      if !state.isLoaded { _ = try memberIDs(slot) }
      for id in Array(state.members) {
        guard let other = otherSide(of: .objectID(id), along: relationship) else { continue }
        guard other.isDeleted || !other.isFault && !other.pointsAt(self, slot: inverse) else { continue }
        alter(id, of: state, slot: slot, because: .row) { $0.remove(id) }
      }
    }
  }

  /// A relationship leads where the row says. The other sides of a one-to-one relationship follow; what is to go takes the
  /// object with it, or lets it go.
  final func retie(_ tie: Tie, to new: Value) throws {
    let (slot, old) = (tie.slot, tie.value)
    guard let (relationship, inverse) = inverse(of: slot) else { return }
    let isOneToOne = !relationship.isInverseToMany
    if isOneToOne, old != new, let former = otherSide(of: old, along: relationship), !former.isDeleted {
      try former.detach(objectID, slot: inverse)
    }
    guard let other = otherSide(of: new, along: relationship) else { return }
    if other.isDeleted {
      // Otherwise its deletion took the object out, and to undo it puts it back.
      let isOut = tie.isOut || tie.saved != new
      return try follow(deletionOf: other, slot: slot, inverse: inverse, leaving: isOut)
    }
    if isOneToOne, !other.isFault { try other.attach(objectID, slot: inverse) }
  }

  /// A newer row leads to objects whose unsaved changes lead elsewhere, or that are to go. These stay, and the object follows.
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

  /// Undoing brought the object back, and its row leads to others that are still to go, because it was read anew after their deletion:
  /// it leads to them no more, as it did before they took it along.
  final func leaveDeletedDestinations() throws {
    for slot in entity.toOneSlots where !changed.contains(slot) {
      guard let (relationship, inverse) = inverse(of: slot),
        let other = otherSide(of: current(slot) ?? .null, along: relationship), other.isDeleted
      else { continue }
      let rule = other.entity.properties[inverse].relationship?.description.deleteRule
      if rule == .cascade || rule == .nullify { try setStoredValue(.null, slot: slot) }
    }
  }

  /// Applies the delete rule of an object that is to go to this one, which points at it. With `leaving` its list is to be without this one
  /// also when it comes back.
  private func follow(deletionOf other: ManagedObject, slot: Slot, inverse: Slot, leaving: Bool) throws {
    let rule = other.entity.properties[inverse].relationship?.description.deleteRule
    guard rule == .cascade || rule == .nullify else { return }
    if leaving { other.lose(objectID, slot: inverse) }
    if rule == .cascade { try context?.delete(self) } else { try setStoredValue(.null, slot: slot) }
  }

  private func lose(_ id: ManagedObjectID, slot: Slot) {
    guard case .toMany = entity.properties[slot].kind else { return }
    let known = toManyState(slot)
    // It was read before a row that leads there.
    if !known.contains(id) { unload(known, slot: slot) }
    alter(id, of: known, slot: slot, because: .row) { $0.remove(id) }
    didChange(slot)
  }

  private func inverse(of slot: Slot) -> (ResolvedRelationship, Slot)? {
    guard let relationship = entity.properties[slot].relationship, let inverse = relationship.inverseSlot else {
      return nil
    }
    return (relationship, inverse)
  }
}
