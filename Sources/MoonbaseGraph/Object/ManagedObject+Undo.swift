import MoonbaseModel

/// Transitions that restore former values for an undo manager.
///
/// Each transition is recorded by the journal, so that it can be redone.
extension ManagedObject {
  /// Restores an attribute's former value, without setters and checks, which the value passed before.
  ///
  /// Throws if a store cannot deliver the bytes of an external value.
  final func putBack(_ value: Value, transformed: Value?, slot: Slot, silently: Bool) throws {
    // A damaged value can be restored only while the row contains it.
    let isThere = value.isDamage && snapshot?.values[slot] == value
    let value = isThere ? value : try loaded(value, slot: slot)
    if try isUnread(slot, equalTo: value) { return }
    if silently { try setStoredPrimitive(value, slot: slot) } else { try setStoredValue(value, slot: slot) }
    if let transformed { cache(Cached(value: transformed), slot: slot) }
  }

  /// Restores a delayed value. Does nothing if no extension declares the attribute any more. The attribute counts as
  /// changed.
  final func putBackDelayed(_ former: Value?, slot: Slot) {
    let value = entity.has(slot) ? former : nil
    delay(value, slot: slot)
    if value != nil { didChange(slot) }
  }

  /// Clears the order change of a relationship whose destinations are in their saved order.
  ///
  /// The order is known to be saved if nothing was saved since the order was unchanged (`wasOrdered`), or if the state
  /// shows it. For example, an insertion that was deleted and saved leaves no trace after both are undone.
  final func forgetOrder(_ slot: Slot, wasOrdered: Bool) {
    guard let known = relationships[slot], known.isReordered, wasOrdered || known.standsAsSaved else { return }
    remember(.order(slot, known, known.contents), silently: true)
    known.forgetOrder()
  }

  /// Whether the other side of a relationship is known to contain this object, without reading. Used to avoid reading
  /// both sides.
  final func isKnownDestination(of id: ManagedObjectID, slot: Slot) throws -> Bool {
    guard let inverse = entity.properties[slot].relationship?.inverseSlot,
      let other = context?.registeredObject(for: id), !other.isFault
    else { return false }
    if case .toOne = other.entity.properties[inverse].kind { return other.current(inverse) == .objectID(objectID) }
    guard let known = other.relationships[inverse], known.isLoaded else { return false }
    return known.contains(objectID)
  }

  /// Removes the object from the list of changes if nothing differs from its saved state.
  final func unlistIfUnchanged() {
    guard state.contains(.listed), state.isDisjoint(with: [.inserted, .deleted, .hasPendingLists]) else { return }
    if let row = snapshot {
      for slot in changed.slots where isAsSaved(slot, row) {
        unmark(slot)
        guard own(slot) != nil, !hasList(slot) else { continue }
        rememberValue(slot, silently: true)
        restoreOwn(nil, slot: slot)
      }
    }
    // A refresh keeps list changes of the members, which are not marked as changes here.
    if changed.isEmpty, delayed.isEmpty, !relationships.values.contains(where: \.hasChanges) { unlistUnchanged() }
  }

  /// Whether a slot is a to-many relationship.
  private func hasList(_ slot: Slot) -> Bool {
    if case .toMany = entity.properties[slot].kind { true } else { false }
  }

  /// Whether a slot has its saved value. Data of tokens is read for the comparison.
  private func isAsSaved(_ slot: Slot, _ row: Snapshot) -> Bool {
    if hasList(slot) { return relationships[slot]?.hasChanges != true }
    guard delayed[slot] == nil else { return false }
    guard let own = own(slot) else { return true }
    if case .object(let token) = row.values[slot], token.load != nil, token.damage == nil {
      return (try? loaded(row.values[slot], slot: slot))?.isSame(as: own) == true
    }
    return entity.properties[slot].isTransient ? own.isNull : row.cell(slot).isSame(as: own)
  }
}
