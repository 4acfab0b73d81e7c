import MoonbaseModel

/// The row and the values beside it: replacing rows, setting values, and restoring former states.
extension ManagedObject {
  /// The values as they were read from the store; nil for a fault and for a new object.
  final var snapshot: Snapshot? { row.snapshot }

  /// Replaces the store's row, or removes it. Also updates the weight.
  final func setSnapshot(_ new: Snapshot?) { weigh(row.setLocation(new?.place ?? 0, in: new?.page)) }

  /// Replaces all values beside the row.
  private final func setLive(_ values: ContiguousArray<Value?>) { weigh(row.setLive(values)) }

  /// Sets a value beside the row; with nil the row's value applies.
  @inline(__always)
  private final func setLive(_ value: Value?, slot: Slot) { weigh(row.setLive(value, slot: slot)) }

  /// Sets the object's own value in a slot, in its own row if there is one.
  @inline(__always)
  final func setOwn(_ value: Value, slot: Slot) {
    weigh(table._withUnsafeGuaranteedRef { row.setOwn(value, slot: slot, of: $0) })
  }

  /// Sets the object's own value in a slot, and records the former value. With the cause `.row`, the value counts as
  /// read and not as changed.
  @inline(__always)
  final func put(_ value: Value, slot: Slot, because cause: Derivations.Cause, silently: Bool = false) {
    rememberValue(slot, because: cause, silently: silently)
    guard cause == .change else { return setRead(value, slot: slot) }
    if !row.isOwn, beginChange(value, slot: slot) { return }
    setOwn(value, slot: slot)
  }

  /// Sets a value that belongs to the row, without a change.
  private final func setRead(_ value: Value, slot: Slot) {
    weigh(table._withUnsafeGuaranteedRef { row.setRead(value, slot: slot, of: $0) })
  }

  /// Makes room for values beside the row.
  @inline(__always)
  final func materialize() {
    if row.live.isEmpty { weigh(row.makeRoom(for: entity.properties.count)) }
  }

  /// Marks a slot as changed for the next save.
  @inline(__always)
  final func markChanged(_ slot: Slot) {
    if slot < 64 { row.markChanged(low: slot) } else { ownRecord.changedHigh.insert(slot) }
  }

  /// Replaces the set of changed slots.
  final func setChanged(_ slots: SlotSet) {
    row.setChanged(low: slots.low)
    setChanged(high: slots.high)
  }

  /// Replaces the set of changed slots from 64 on.
  final func setChanged(high slots: Set<Slot>) {
    if record != nil || !slots.isEmpty { ownRecord.changedHigh = slots }
  }
}

/// Reading rows.
extension ManagedObject {
  /// Adopts a row that was read, if the object is a fault and has no newer row. Called for rows that any request reads.
  final func adoptRow(_ new: Snapshot) {
    guard isFault, snapshot.map({ $0.version <= new.version }) ?? true else { return }
    setSnapshot(new)
    leaveBatch()
    if let context, context.derivations.isWatching { context.invalidateOutdated(ofRow: new, self) }
  }

  /// Adopts a copy of the same row in another page. The values are the same, so nothing is recorded.
  final func move(to copy: Snapshot) { setSnapshot(copy) }

  /// Replaces the row by a newer row, with unsaved changes on top. The caller adjusts the other sides of relationships.
  final func rebase(on newer: Snapshot) {
    spillRow()
    if !row.live.isEmpty {
      // A value that was set back to its former value is no change, so the newer value applies.
      if let snapshot, state.contains(.listed), !isDeleted {
        var stillChanged = SlotSet()
        for slot in changed.slots {
          guard let value = row.live[slot] else { continue }
          if entity.properties[slot].isTransient || value != snapshot.values[slot] { stillChanged.insert(slot) }
        }
        setChanged(stillChanged)
      }
      let changed = changed
      for slot in row.live.indices where row.live[slot] != nil && !changed.contains(slot) {
        if !entity.properties[slot].isTransient { setLive(nil, slot: slot) }
      }
    }
    setSnapshot(newer)
  }

  /// Runs `body` with the row's values in place of values that awake-from-fetch set; transient values stay. Used by
  /// predicates, which must see saved values.
  final func asSaved<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard row.page != nil, !row.isOwn else { return try body() }
    let (awakened, computed, slots) = (row.live, caches, changed.slots)
    if !row.live.isEmpty {
      for slot in slots { setLive(nil, slot: slot) }
    }
    setCaches([:])
    defer {
      // Values that were computed meanwhile were computed from the row.
      for slot in slots { outdate(slot, because: .row) }
      // Computing a value may have changed the object.
      if !state.contains(.listed) {
        setLive(awakened)
        setCaches(computed)
      }
    }
    return try body()
  }

  /// Drops values that were computed from the row; unsaved changes are kept.
  ///
  /// A value that awake-from-fetch set is kept only if the newer row has the same value as the former row. Called
  /// before a newer row is adopted.
  final func forgetReadings(before newer: Snapshot) {
    if !state.contains(.listed) {
      setChanged(
        SlotSet(
          changed.slots.filter { slot in
            entity.properties[slot].attribute != nil
              && snapshot.map { $0.cell(slot).isSame(as: newer.values[slot]) } ?? false
          }))
    }
    let changed = changed
    setCaches(caches.filter { $1.reads != nil || changed.contains($0) })
  }

  /// Adopts a value of a to-one relationship that the other side's row implies. Unsaved changes stay; a fault reads its
  /// own row. For example, a list that was just read contains the object.
  final func adoptRowValue(_ value: Value, slot: Slot) {
    guard !isFault, !changed.contains(slot) else { return }
    setRead(value, slot: slot)
    context?.observations.changeEvent?.refresh(self)
    outdate(slot, because: .row)
    context?.noteChange()
  }

  /// Discards all differences from the snapshot. Observers and derived values are invalidated.
  final func forgetChanges() {
    outdateAll()
    weigh(row.dropChange())
    setLive([])
    setChanged(SlotSet())
    setCaches([:])
    setDelayed([:])
  }
}

/// Transitions after a save and while undoing.
///
/// Transitions must not lose transient values, which no store has.
extension ManagedObject {
  /// Drops persistent values beside the row, which now has them, and keeps transient values.
  final func keepTransientValues() {
    guard !row.live.isEmpty else { return }
    if table._withUnsafeGuaranteedRef({ $0.entity.transientSlots.isEmpty }) { return weigh(row.dropLive()) }
    let old = row.live
    setLive([])
    for slot in entity.transientSlots {
      guard let value = old[slot], !value.isNull else { continue }
      materialize()
      setLive(value, slot: slot)
    }
  }

  /// Replaces temporary IDs in transient relationships and values by permanent IDs. Called after a save.
  final func replaceTransientDestinations(by permanent: PermanentIDs) {
    guard !row.live.isEmpty, !permanent.isEmpty else { return }
    for slot in entity.transientSlots {
      if let value = row.live[slot]?.replacingIDs({ permanent[$0] }) { setLive(value, slot: slot) }
    }
  }

  /// Restores the object's own value in a slot; with nil the row's value applies again. Used by undoing.
  final func restoreOwn(_ value: Value?, slot: Slot) {
    if let value { return setOwn(value, slot: slot) }
    if !row.live.isEmpty { setLive(nil, slot: slot) }
    guard row.isOwn else { return }
    let (bytes, isEmpty) = row.removeValue(slot, slotCount: entity.properties.count)
    weigh(bytes)
    if isEmpty { weigh(row.dropChange()) }
  }

  /// Frees the room for values beside the row if there are none.
  final func dropEmptyOwnValues() {
    if !row.live.isEmpty, row.live.allSatisfy({ $0 == nil }) { setLive([]) }
  }
}

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
      _ = try other.adoptCurrentRow()
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
    if known.isLoaded { context?.observations.changeEvent?.refresh(self) }
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
      adoptRowValue(.null, slot: slot)
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
      adoptRowValue(.objectID(other.objectID), slot: slot)
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
