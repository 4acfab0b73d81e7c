import MoonbaseModel

/// An object's current values, in its row and beside it.
extension ManagedObject {
  /// The page of the object's row, a store's or its own.
  final var page: RowPage? { row.page }
  /// Whether the object has values of its own, beside a store's row or in a row of its own.
  final var hasLiveValues: Bool { !row.live.isEmpty || row.isOwn }
  /// The value in a slot: the object's own value, else the row's.
  @inline(__always)
  final func current(_ slot: Slot) -> Value? {
    if !row.live.isEmpty, let value = row.live[slot] { return value }
    return row.page?.value(slot, of: Int(row.place))
  }
  /// The object's own value in a slot; nil if the row's value applies.
  @inline(__always)
  final func own(_ slot: Slot) -> Value? {
    if !row.live.isEmpty, let value = row.live[slot] { return value }
    return row.owns(slot) ? row.page?.value(slot, of: Int(row.place)) : nil
  }
  /// The values of all slots; nil for a fault without a row.
  final var currentValues: ContiguousArray<Value>? {
    guard hasLiveValues || row.page != nil else { return nil }
    return ContiguousArray(entity.properties.map { current($0.slot) ?? .null })
  }
  /// The cell of a slot, without an intermediate `Value` where possible.
  @inline(__always)
  final func currentRawCell(_ slot: Slot) -> RawCell {
    if !row.live.isEmpty, let value = row.live[slot] { return RawCell(of: value) }
    return row.page?.rawCell(slot, of: Int(row.place)) ?? RawCell(.null)
  }
  /// Whether a slot has a value.
  @inline(__always)
  final func holds(_ value: Value, slot: Slot) -> Bool {
    if !row.live.isEmpty, let beside = row.live[slot] { return beside.isSame(as: value) }
    return row.page?.cell(slot, of: Int(row.place)).isSame(as: value) ?? value.isNull
  }
  /// Whether a slot has the same value as a store's row. Compares cells where possible, without intermediate values.
  final func holds(valueOf row: Snapshot, slot: Slot) -> Bool {
    if self.row.live.isEmpty || self.row.live[slot] == nil {
      let (own, other) = (currentRawCell(slot), row.page.rawCell(slot, of: row.place))
      if own.kind != .other || other.kind != .other { return own.isSame(as: other) }
    }
    return row.cell(slot).isSame(as: current(slot) ?? .null)
  }
  /// Whether a slot has a value, without converting it. Fires a fault.
  final func hasStoredValue(_ slot: Slot) throws -> Bool {
    if state.contains(.fault) { try fireFault() }
    return !holds(.null, slot: slot)
  }
  /// Slots that may differ from the snapshot and that a save writes.
  final var changed: SlotSet { SlotSet(low: row.changedLow, high: record?.changedHigh ?? []) }
  /// The version of the row; nil without a row.
  final var rowVersion: Int64? { snapshot?.version }
}
