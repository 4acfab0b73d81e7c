import MoonbaseModel

/// Updating other objects whose relationships refer to an object, when its row changes.
extension ManagedObject {
  /// Updates the other sides after a change of a to-one relationship in the row. Their unsaved changes stay. `old` and
  /// `new` are null or IDs.
  final func rowMoved(_ slot: Slot, from old: Value, to new: Value) {
    guard old != new, let relationship = entity.properties[slot].relationship,
      !relationship.description.isTransient
    else { return }
    if let other = otherSide(of: old, along: relationship) {
      other.removeInversePointer(from: self, along: relationship)
    }
    if let other = otherSide(of: new, along: relationship) { other.addInversePointer(from: self, along: relationship) }
  }

  /// Removes the object from the other side that a newer row refers to, because an unsaved change refers elsewhere.
  /// Errors are kept by the context.
  final func dropInverse(from value: Value, slot: Slot) {
    guard value != current(slot), case .objectID(let id) = value, let context,
      let inverse = entity.properties[slot].relationship?.inverseSlot, !entity.properties[slot].isTransient
    else { return }
    do {
      guard let other = try context.objectUnlessGone(with: id) else { return }
      // The save that wrote the row may have written the other side, and values computed from it, too.
      _ = try other.takeCurrentRow()
      // The state of its list is older than the row, even if a new object's list was known to be empty.
      if case .toMany = other.entity.properties[inverse].kind {
        let known = other.toManyState(inverse)
        if !known.contains(objectID) { other.unload(known, slot: inverse) }
      }
      try other.detach(objectID, slot: inverse)
    } catch {
      context.keep(error)
    }
  }

  /// Before the values are dropped, forgets unsaved changes of this object in other objects' lists, so that these are
  /// read again with it. Called before the object becomes a fault.
  final func forgetMemberships() {
    guard !isAsItsRow else { return }
    for slot in entity.toOneSlots where !state.contains(.fault) {
      guard let relationship = entity.properties[slot].relationship, relationship.isInverseToMany else { continue }
      for value in [hasLiveValues ? current(slot) : nil, snapshot?.values[slot]] {
        if let value { otherSide(of: value, along: relationship)?.forgetMember(objectID, along: relationship) }
      }
    }
    for (slot, state) in relationships {
      guard let relationship = entity.properties[slot].relationship, relationship.isManyToMany else { continue }
      for ids in isDeleted ? [state.added, state.removed, state.members] : [state.added, state.removed] {
        for id in ids {
          otherSide(of: .objectID(id), along: relationship)?.forgetMember(objectID, along: relationship)
        }
      }
    }
  }

  /// Before the values are dropped, removes the object from the other sides of transient relationships, which no row
  /// contains.
  final func leaveTransientDestinations() {
    guard hasLiveValues || !relationships.isEmpty else { return }
    for slot in entity.toOneSlots + entity.toManySlots where entity.properties[slot].isTransient {
      guard let relationship = entity.properties[slot].relationship, let inverse = relationship.inverseSlot else {
        continue
      }
      for id in knownDestinations(slot) {
        otherSide(of: .objectID(id), along: relationship)?.forgetDestinations([objectID], slot: inverse)
      }
    }
  }

  /// The destinations in memory.
  private func knownDestinations(_ slot: Slot) -> [ManagedObjectID] {
    if let known = relationships[slot] { return Array(known.members) }
    guard hasLiveValues, case .objectID(let id)? = current(slot) else { return [] }
    return [id]
  }

  /// The to-many side of one-to-many relationships with unsaved changes, which belong to the members and are kept.
  ///
  /// Transient relationships are excluded, as they are dropped on both sides. Used to keep these changes while the
  /// object is refreshed.
  final var listsOfChangedOthers: SlotMap<ToManyState> {
    relationships.filter { slot, state in
      guard let relationship = entity.properties[slot].relationship, !relationship.description.isTransient else {
        return false
      }
      return state.hasChanges && relationship.inverseSlot != nil && !relationship.isManyToMany
    }
  }

  /// Whether the object has no values of its own and no changes.
  private var isAsItsRow: Bool { !hasLiveValues && !state.contains(.listed) }

  /// To-one relationships whose other side depends on this row: a to-one relationship back with its value, or a read
  /// list with this object.
  final var partners: [(slot: Slot, value: Value)] {
    guard !isFault, let values = snapshot?.values else { return [] }
    return entity.toOneSlots.compactMap { slot in
      guard let relationship = entity.properties[slot].relationship,
        let other = otherSide(of: values[slot], along: relationship)
      else { return nil }
      let isKnown = relationship.isInverseToMany ? isAsItsRow && other.lists(self, along: relationship) : !other.isFault
      return isKnown ? (slot, values[slot]) : nil
    }
  }

  /// Whether the object's list for an inverse is read and contains another object. Nothing is read.
  private func lists(_ other: ManagedObject, along relationship: ResolvedRelationship) -> Bool {
    guard let state = relationship.inverseSlot.flatMap({ relationships[$0] }) else { return false }
    return state.isLoaded && state.contains(other.objectID)
  }

  /// Forgets an unsaved change of a member, and unloads the list. Observers of the list are informed.
  private func forgetMember(_ id: ManagedObjectID, along relationship: ResolvedRelationship) {
    guard let slot = relationship.inverseSlot, !relationship.description.isTransient else { return }
    outdate(slot, because: .row)
    guard let known = relationships[slot], known.knows(id) else { return }
    alter(id, of: known, slot: slot, because: .row) { $0.forget(id) }
    unload(known, slot: slot)
  }

  /// Removes destinations that are gone from a relationship; this is no change. Used after deletions by other contexts.
  final func forgetDestinations(_ gone: Set<ManagedObjectID>, slot: Slot) {
    if let known = relationships[slot] {
      for id in known.known(among: gone) {
        alter(id, of: known, slot: slot, because: .row) { $0.forgetGone(id) }
      }
      return weighRelationships()
    }
    guard hasLiveValues, case .objectID(let id)? = current(slot), gone.contains(id) else { return }
    put(.null, slot: slot, because: .row)
  }

  /// Makes the next access read the destinations again. Changes of the list stay on top.
  final func unload(_ known: ToManyState, slot: Slot) {
    if known.isLoaded, state.contains(.listed) { remember(.members(slot, known, known.contents)) }
    if known.isLoaded { context?.changeEvent?.refresh(self) }
    known.unload()
    outdate(slot, because: .row)
  }

  /// Updates the other sides after the object's values were read. Only lists can be outdated by a row that was read.
  final func updateInverses() {
    guard let values = snapshot?.values else { return }
    for slot in entity.slotsInLists {
      rowMoved(slot, from: .null, to: values[slot])
    }
  }

  /// The registered object that a value of a relationship with an inverse refers to; nil if there is none. Nothing is
  /// read.
  final func otherSide(of value: Value, along relationship: ResolvedRelationship) -> ManagedObject? {
    guard case .objectID(let id) = value, relationship.inverseSlot != nil else { return nil }
    return context?.registered[id]?.takeUnretainedValue()
  }

  /// Updates the relationship back to an object whose row no longer refers to this one. A read list is unloaded,
  /// because its order may have changed.
  private func removeInversePointer(from other: ManagedObject, along relationship: ResolvedRelationship) {
    guard let slot = relationship.inverseSlot else { return }
    if relationship.isInverseToMany {
      if let state = relationships[slot], state.isLoaded, state.contains(other.objectID) { unload(state, slot: slot) }
    } else if pointsAt(other, slot: slot) {
      takeRowValue(.null, slot: slot)
    }
  }

  /// Updates the relationship back to an object whose row now refers to this one. An unread list stays unread.
  private func addInversePointer(from other: ManagedObject, along relationship: ResolvedRelationship) {
    guard let slot = relationship.inverseSlot else { return }
    if relationship.isInverseToMany {
      guard relationships[slot] != nil || startsEmpty else { return }
      let state = toManyState(slot)
      if state.isLoaded, !state.contains(other.objectID) { unload(state, slot: slot) }
    } else if !pointsAt(other, slot: slot) {
      let former = current(slot) ?? .null
      takeRowValue(.objectID(other.objectID), slot: slot)
      // The former partner no longer has this partner.
      if let back = entity.properties[slot].relationship, pointsAt(other, slot: slot) {
        otherSide(of: former, along: back)?.removeInversePointer(from: self, along: back)
      }
    }
  }

  /// Whether a to-one relationship refers to an object.
  final func pointsAt(_ other: ManagedObject, slot: Slot) -> Bool {
    current(slot) == .objectID(other.objectID)
  }
}
