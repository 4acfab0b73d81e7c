import MoonbaseModel

/// What others know of an object by its row: when a newer row points elsewhere, they learn of it.
extension ManagedObject {
  /// The row of a to-one relationship was changed elsewhere. Unsaved changes of the other sides stay.
  final func rowMoved(_ slot: Slot, from old: Value, to new: Value) {
    guard old != new, let relationship = entity.properties[slot].relationship,
      !relationship.description.isTransient
    else { return }
    if let other = otherSide(of: old, along: relationship) { other.forgetPointer(from: self, along: relationship) }
    if let other = otherSide(of: new, along: relationship) { other.learnPointer(from: self, along: relationship) }
  }

  /// A newer row leads to an object, and an unsaved change elsewhere: the save takes this one away from it.
  final func stayAway(from value: Value, slot: Slot) {
    guard value != current(slot), case .objectID(let id) = value, let context,
      let inverse = entity.properties[slot].relationship?.inverseSlot, !entity.properties[slot].isTransient
    else { return }
    do {
      guard let other = try context.objectToLeave(with: id) else { return }
      // Who saved the row may have saved the other side with it, and what is computed there.
      _ = try other.takeCurrentRow()
      // What is known of its list, be it that a new object had none, is older than the row.
      if case .toMany = other.entity.properties[inverse].kind {
        let known = other.toManyState(inverse)
        if !known.contains(objectID) { other.unload(known, slot: inverse) }
      }
      try other.detach(objectID, slot: inverse)
    } catch {
      context.keep(error)
    }
  }

  /// The values are about to be dropped: what lists of other objects know of this one is read anew together with it, where that
  /// is more than the row says.
  final func rowLeaves() {
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

  /// The values are about to be dropped, and transient relationships with them: no row would tell the other sides.
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

  private func knownDestinations(_ slot: Slot) -> [ManagedObjectID] {
    if let known = relationships[slot] { return Array(known.members) }
    guard hasLiveValues, case .objectID(let id)? = current(slot) else { return [] }
    return [id]
  }

  /// One-to-many relationships with unsaved changes. They are changes of the other sides, which keep them. Transient ones are gone
  /// on both sides.
  final var listsOfChangedOthers: SlotMap<ToManyState> {
    relationships.filter { slot, state in
      guard let relationship = entity.properties[slot].relationship, !relationship.description.isTransient else {
        return false
      }
      return state.hasChanges && relationship.inverseSlot != nil && !relationship.isManyToMany
    }
  }

  private var isAsItsRow: Bool { !hasLiveValues && !state.contains(.listed) }

  /// To-one relationships of which the other side knows by this row: a to-one relationship back that has its value, or a list
  /// that was read and has this object.
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

  private func lists(_ other: ManagedObject, along relationship: ResolvedRelationship) -> Bool {
    guard let state = relationship.inverseSlot.flatMap({ relationships[$0] }) else { return false }
    return state.isLoaded && state.contains(other.objectID)
  }

  private func forgetMember(_ id: ManagedObjectID, along relationship: ResolvedRelationship) {
    guard let slot = relationship.inverseSlot, !relationship.description.isTransient else { return }
    outdate(slot, because: .row)
    guard let known = relationships[slot], known.knows(id) else { return }
    alter(id, of: known, slot: slot, because: .row) { $0.forget(id) }
    unload(known, slot: slot)
  }

  /// Objects are gone to which a relationship may lead: that is no change.
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

  /// The next access reads the destinations anew.
  final func unload(_ known: ToManyState, slot: Slot) {
    if known.isLoaded, state.contains(.listed) { remember(.members(slot, known, known.contents)) }
    if known.isLoaded { context?.changeEvent?.refresh(self) }
    known.unload()
    outdate(slot, because: .row)
  }

  /// The values are here again.
  final func rowArrived() {
    guard let values = snapshot?.values else { return }
    for slot in entity.slotsInLists {
      rowMoved(slot, from: .null, to: values[slot])
    }
  }

  final func otherSide(of value: Value, along relationship: ResolvedRelationship) -> ManagedObject? {
    guard case .objectID(let id) = value, relationship.inverseSlot != nil else { return nil }
    return context?.registered[id]?.takeUnretainedValue()
  }

  private func forgetPointer(from other: ManagedObject, along relationship: ResolvedRelationship) {
    guard let slot = relationship.inverseSlot else { return }
    if relationship.isInverseToMany {
      if let state = relationships[slot], state.isLoaded, state.contains(other.objectID) { unload(state, slot: slot) }
    } else if pointsAt(other, slot: slot) {
      takeRowValue(.null, slot: slot)
    }
  }

  private func learnPointer(from other: ManagedObject, along relationship: ResolvedRelationship) {
    guard let slot = relationship.inverseSlot else { return }
    if relationship.isInverseToMany {
      guard relationships[slot] != nil || startsEmpty else { return }
      let state = toManyState(slot)
      if state.isLoaded, !state.contains(other.objectID) { unload(state, slot: slot) }
    } else if !pointsAt(other, slot: slot) {
      let former = current(slot) ?? .null
      takeRowValue(.objectID(other.objectID), slot: slot)
      // The one that was there before is it no longer.
      if let back = entity.properties[slot].relationship, pointsAt(other, slot: slot) {
        otherSide(of: former, along: back)?.forgetPointer(from: self, along: back)
      }
    }
  }

  final func pointsAt(_ other: ManagedObject, slot: Slot) -> Bool {
    current(slot) == .objectID(other.objectID)
  }
}
