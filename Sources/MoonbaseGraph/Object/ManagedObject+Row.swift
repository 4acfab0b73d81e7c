import MoonbaseModel

/// The row and the values beside it: taking another row, setting values, and putting back what was there.
extension ManagedObject {
  /// The values as the store had them when they were read; nil for a fault and for a new object.
  final var snapshot: Snapshot? { row.snapshot }

  /// Another row as a store has it, or none.
  final func setSnapshot(_ new: Snapshot?) { weigh(row.takePlace(new?.place ?? 0, in: new?.page)) }

  private final func setLive(_ values: ContiguousArray<Value?>) { weigh(row.setLive(values)) }

  /// Puts a value beside the row; with nil the row's holds again.
  @inline(__always)
  private final func setLive(_ value: Value?, slot: Slot) { weigh(row.setLive(value, slot: slot)) }

  /// Gives the object a value of its own in a slot, which it writes into its own row if it has one.
  @inline(__always)
  final func setOwn(_ value: Value, slot: Slot) {
    weigh(table._withUnsafeGuaranteedRef { row.setOwn(value, slot: slot, of: $0) })
  }

  /// Puts a value of its own into a slot.
  @inline(__always)
  final func put(_ value: Value, slot: Slot, because cause: Derivations.Cause, silently: Bool = false) {
    rememberValue(slot, because: cause, silently: silently)
    guard cause == .change else { return setRead(value, slot: slot) }
    if !row.isOwn, beginChange(value, slot: slot) { return }
    setOwn(value, slot: slot)
  }

  private final func setRead(_ value: Value, slot: Slot) {
    weigh(table._withUnsafeGuaranteedRef { row.setRead(value, slot: slot, of: $0) })
  }

  /// Gives the object room for values of its own.
  @inline(__always)
  final func materialize() {
    if row.live.isEmpty { weigh(row.makeRoom(for: entity.properties.count)) }
  }

  /// The next save looks at a slot.
  @inline(__always)
  final func markChanged(_ slot: Slot) {
    if slot < 64 { row.markChanged(low: slot) } else { ownRecord.changedHigh.insert(slot) }
  }

  final func setChanged(_ slots: SlotSet) {
    row.setChanged(low: slots.low)
    setChanged(high: slots.high)
  }

  final func setChanged(high slots: Set<Slot>) {
    if record != nil || !slots.isEmpty { ownRecord.changedHigh = slots }
  }
}

/// Reading a row.
extension ManagedObject {
  /// Takes a row that was read, where the values were not looked at yet; an older one than is here is of no use.
  final func takeRow(_ new: Snapshot) {
    guard isFault, snapshot.map({ $0.version <= new.version }) ?? true else { return }
    setSnapshot(new)
    leaveBatch()
    if let context, context.derivations.isWatching { context.takeNote(ofRow: new, self) }
  }

  /// The same row, in another page.
  final func move(to copy: Snapshot) { setSnapshot(copy) }

  /// A newer row takes the place of the one that is here, with what changed since on top.
  final func rebase(on newer: Snapshot) {
    spillRow()
    if !row.live.isEmpty {
      // A value that was set back to the one it had is no change, so the newer one counts.
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

  /// Runs `body` with the values of the row in the place of those that awake-from-fetch set; transient ones stay.
  final func asSaved<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard row.page != nil, !row.isOwn else { return try body() }
    let (awakened, computed, slots) = (row.live, caches, changed.slots)
    if !row.live.isEmpty {
      for slot in slots { setLive(nil, slot: slot) }
    }
    setCaches([:])
    defer {
      // What others computed meanwhile was computed from the row.
      for slot in slots { outdate(slot, because: .row) }
      // Who computes a value may have changed the object.
      if !state.contains(.listed) {
        setLive(awakened)
        setCaches(computed)
      }
    }
    return try body()
  }

  /// Gives up what was made of the row, but not unsaved changes. What awake-from-fetch set is none, and stays only where the newer row
  /// has the same value as the one that it was set over.
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

  /// The row of the other side of a relationship tells that a value is another one; an unsaved change stays on top, and a fault
  /// reads it.
  final func takeRowValue(_ value: Value, slot: Slot) {
    guard !isFault, !changed.contains(slot) else { return }
    setRead(value, slot: slot)
    context?.changeEvent?.refresh(self)
    outdate(slot, because: .row)
    context?.noteChange()
  }

  /// Forgets all that differs from the snapshot.
  final func forgetChanges() {
    outdateAll()
    weigh(row.dropChange())
    setLive([])
    setChanged(SlotSet())
    setCaches([:])
    setDelayed([:])
  }
}

/// After a save, and undoing.
extension ManagedObject {
  /// Persistent values are the row's now; transient ones live on in the object.
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

  /// Transient relationships and values name objects that have their permanent IDs only now.
  final func replaceTransientDestinations(by permanent: PermanentIDs) {
    guard !row.live.isEmpty, !permanent.isEmpty else { return }
    for slot in entity.transientSlots {
      if let value = row.live[slot]?.replacingIDs({ permanent[$0] }) { setLive(value, slot: slot) }
    }
  }

  /// Puts back the object's own value in a slot; with nil the row's holds again.
  final func restoreOwn(_ value: Value?, slot: Slot) {
    if let value { return setOwn(value, slot: slot) }
    if !row.live.isEmpty { setLive(nil, slot: slot) }
    guard row.isOwn else { return }
    let (bytes, isEmpty) = row.giveUp(slot, slotCount: entity.properties.count)
    weigh(bytes)
    if isEmpty { weigh(row.dropChange()) }
  }

  /// Where no value is the object's own, it needs no room for any.
  final func dropEmptyOwnValues() {
    if !row.live.isEmpty, row.live.allSatisfy({ $0 == nil }) { setLive([]) }
  }
}
