import MoonbaseModel

/// What an undo manager puts back.
extension ManagedObject {
  /// Puts back what an attribute had, past setters and checks: it had it. Throws where a store does not give the bytes of a value that
  /// could not be read before either.
  final func putBack(_ value: Value, transformed: Value?, slot: Slot, silently: Bool) throws {
    // What a row holds in the place of a value comes back only as long as the row holds it.
    let isThere = value.isDamage && snapshot?.values[slot] == value
    let value = isThere ? value : try loaded(value, slot: slot)
    if try isUnread(slot, equalTo: value) { return }
    if silently { try setStoredPrimitive(value, slot: slot) } else { try setStoredValue(value, slot: slot) }
    if let transformed { cache(Cached(value: transformed), slot: slot) }
  }

  /// Puts back what waited for will-save. Nothing waits where no extension declares the attribute any more.
  final func putBackDelayed(_ former: Value?, slot: Slot) {
    let value = entity.has(slot) ? former : nil
    delay(value, slot: slot)
    if value != nil { didChange(slot) }
  }

  /// Destinations that stand where they are saved are no change, because nothing was saved since none was moved (`wasOrdered`), or because
  /// that shows: an insertion that was deleted and saved, for example, leaves no trace when both are undone.
  final func forgetOrder(_ slot: Slot, wasOrdered: Bool) {
    guard let known = relationships[slot], known.isReordered, wasOrdered || known.standsAsSaved else { return }
    remember(.order(slot, known, known.contents), silently: true)
    known.forgetOrder()
  }

  /// Whether the other side of a relationship leads here, as far as that is known without reading.
  final func isKnownDestination(of id: ManagedObjectID, slot: Slot) throws -> Bool {
    guard let inverse = entity.properties[slot].relationship?.inverseSlot,
      let other = context?.registeredObject(for: id), !other.isFault
    else { return false }
    if case .toOne = other.entity.properties[inverse].kind { return other.current(inverse) == .objectID(objectID) }
    guard let known = other.relationships[inverse], known.isLoaded else { return false }
    return known.contains(objectID)
  }

  /// Where nothing is other than it is saved, the object need not be saved.
  final func unlistIfUnchanged() {
    guard state.contains(.listed), state.isDisjoint(with: [.inserted, .deleted, .listsUnderWay]) else { return }
    if let row = snapshot {
      for slot in changed.slots where isAsSaved(slot, row) {
        unmark(slot)
        guard own(slot) != nil, !hasList(slot) else { continue }
        rememberValue(slot, silently: true)
        restoreOwn(nil, slot: slot)
      }
    }
    // A refresh keeps in lists what other objects changed, and does not count that as changed here.
    if changed.isEmpty, delayed.isEmpty, !relationships.values.contains(where: \.hasChanges) { unlistUnchanged() }
  }

  private func hasList(_ slot: Slot) -> Bool {
    if case .toMany = entity.properties[slot].kind { true } else { false }
  }

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
