import MoonbaseModel

/// The row and the values beside it: replacing rows, setting values, and restoring former states.
extension ManagedObject {
  /// The values as they were read from the store; nil for a fault and for a new object.
  final var snapshot: Snapshot? { row.snapshot }

  /// Replaces the store's row, or removes it. Also updates the weight.
  final func setSnapshot(_ new: Snapshot?) { weigh(row.takePlace(new?.place ?? 0, in: new?.page)) }

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
  final func takeRow(_ new: Snapshot) {
    guard isFault, snapshot.map({ $0.version <= new.version }) ?? true else { return }
    setSnapshot(new)
    leaveBatch()
    if let context, context.derivations.isWatching { context.takeNote(ofRow: new, self) }
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
  final func takeRowValue(_ value: Value, slot: Slot) {
    guard !isFault, !changed.contains(slot) else { return }
    setRead(value, slot: slot)
    context?.changeEvent?.refresh(self)
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
    let (bytes, isEmpty) = row.giveUp(slot, slotCount: entity.properties.count)
    weigh(bytes)
    if isEmpty { weigh(row.dropChange()) }
  }

  /// Frees the room for values beside the row if there are none.
  final func dropEmptyOwnValues() {
    if !row.live.isEmpty, row.live.allSatisfy({ $0 == nil }) { setLive([]) }
  }
}
