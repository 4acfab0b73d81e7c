import MoonbaseModel

/// An object's current values, in its row and beside it.
extension ManagedObject {
  /// The page of the object's row, a store's or its own. Nil for a fault without a row.
  final var page: RowPage? { row.page }
  /// Whether the object has values of its own, beside a store's row or in a row of its own.
  final var hasLiveValues: Bool { !row.live.isEmpty || row.isOwn }
  /// The value in a slot: the object's own value, else the row's. Nil if neither exists, for a fault. Neither fires a
  /// fault nor runs accessors.
  @inline(__always)
  final func current(_ slot: Slot) -> Value? {
    if !row.live.isEmpty, let value = row.live[slot] { return value }
    return row.page?.value(slot, of: Int(row.place))
  }
  /// The object's own value in a slot; nil if the row's value applies. Own values are unsaved, or belong to a row that
  /// only this object has.
  @inline(__always)
  final func own(_ slot: Slot) -> Value? {
    if !row.live.isEmpty, let value = row.live[slot] { return value }
    return row.owns(slot) ? row.page?.value(slot, of: Int(row.place)) : nil
  }
  /// The values of all slots; nil for a fault without a row. An array by slot; null where there is no value.
  final var currentValues: ContiguousArray<Value>? {
    guard hasLiveValues || row.page != nil else { return nil }
    return ContiguousArray(entity.properties.map { current($0.slot) ?? .null })
  }
  /// The cell of a slot, without an intermediate `Value` where possible. Used for comparisons in predicates and sort
  /// keys.
  @inline(__always)
  final func currentRawCell(_ slot: Slot) -> RawCell {
    if !row.live.isEmpty, let value = row.live[slot] { return RawCell(of: value) }
    return row.page?.rawCell(slot, of: Int(row.place)) ?? RawCell(.null)
  }
  /// Whether a slot has a value. Without a row, only null is held.
  @inline(__always)
  final func holds(_ value: Value, slot: Slot) -> Bool {
    if !row.live.isEmpty, let beside = row.live[slot] { return beside.isSame(as: value) }
    return row.page?.cell(slot, of: Int(row.place)).isSame(as: value) ?? value.isNull
  }
  /// Whether a slot has the same value as a store's row. Compares cells where possible, without intermediate values.
  /// Other cells are compared as values.
  final func holds(valueOf row: Snapshot, slot: Slot) -> Bool {
    if self.row.live.isEmpty || self.row.live[slot] == nil {
      let (own, other) = (currentRawCell(slot), row.page.rawCell(slot, of: row.place))
      if own.kind != .other || other.kind != .other { return own.isSame(as: other) }
    }
    return row.cell(slot).isSame(as: current(slot) ?? .null)
  }
  /// Whether a slot has a value, without converting it. Fires a fault. Accessors and transformers do not run.
  final func hasStoredValue(_ slot: Slot) throws -> Bool {
    if state.contains(.fault) { try fireFault() }
    return !holds(.null, slot: slot)
  }
  /// Slots that may differ from the snapshot and that a save writes. The list is not exact: a value may have been set
  /// back.
  final var changed: SlotSet { SlotSet(low: row.changedLow, high: record?.changedHigh ?? []) }
  /// The version of the row; nil without a row. Increased by each save that changes the row.
  final var rowVersion: Int64? { snapshot?.version }
}
