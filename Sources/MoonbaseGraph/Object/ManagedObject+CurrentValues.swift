import MoonbaseModel

/// The values of an object: its own, and those of its row.
extension ManagedObject {
  /// The page of the row, be it a store's or the object's own.
  final var page: RowPage? { row.page }
  /// Whether there are values of the object's own, in place of those of a store's row or without one.
  final var hasLiveValues: Bool { !row.live.isEmpty || row.isOwn }
  /// The value in a slot: the object's own, or else the row's.
  @inline(__always)
  final func current(_ slot: Slot) -> Value? {
    if !row.live.isEmpty, let value = row.live[slot] { return value }
    return row.page?.value(slot, of: Int(row.place))
  }
  /// The object's own value in a slot; nil where the row's holds.
  @inline(__always)
  final func own(_ slot: Slot) -> Value? {
    if !row.live.isEmpty, let value = row.live[slot] { return value }
    return row.owns(slot) ? row.page?.value(slot, of: Int(row.place)) : nil
  }
  /// The values in all slots; nil where there are none.
  final var currentValues: ContiguousArray<Value>? {
    guard hasLiveValues || row.page != nil else { return nil }
    return ContiguousArray(entity.properties.map { current($0.slot) ?? .null })
  }
  /// What a slot holds, if that passes without a value made of it.
  @inline(__always)
  final func currentRawCell(_ slot: Slot) -> RawCell {
    if !row.live.isEmpty, let value = row.live[slot] { return RawCell(of: value) }
    return row.page?.rawCell(slot, of: Int(row.place)) ?? RawCell(.null)
  }
  /// Whether a slot has this value.
  @inline(__always)
  final func holds(_ value: Value, slot: Slot) -> Bool {
    if !row.live.isEmpty, let beside = row.live[slot] { return beside.isSame(as: value) }
    return row.page?.cell(slot, of: Int(row.place)).isSame(as: value) ?? value.isNull
  }
  /// Whether a slot has the value that it has in a row as a store has it; no value is made of what both rows have in cells.
  final func holds(valueOf row: Snapshot, slot: Slot) -> Bool {
    if self.row.live.isEmpty || self.row.live[slot] == nil {
      let (own, other) = (currentRawCell(slot), row.page.rawCell(slot, of: row.place))
      if own.kind != .other || other.kind != .other { return own.isSame(as: other) }
    }
    return row.cell(slot).isSame(as: current(slot) ?? .null)
  }
  /// Whether a slot has any value in the row or in its place; none is made of it. Fires a fault.
  final func hasStoredValue(_ slot: Slot) throws -> Bool {
    if state.contains(.fault) { try fireFault() }
    return !holds(.null, slot: slot)
  }
  /// Slots that may differ from the snapshot, by whichever door: what a save writes.
  final var changed: SlotSet { SlotSet(low: row.changedLow, high: record?.changedHigh ?? []) }
  /// The version of the row, where there is one.
  final var rowVersion: Int64? { snapshot?.version }
}
