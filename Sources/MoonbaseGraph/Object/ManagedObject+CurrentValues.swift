import MoonbaseModel

/// The values of an object: its own, and those of its row.
extension ManagedObject {
  /// Whether there are values of the object's own, beside a row of a store or without one.
  final var hasLiveValues: Bool { !live.isEmpty || state.contains(.ownsRow) }
  /// The value in a slot: the object's own, or else the row's.
  @inline(__always)
  final func current(_ slot: Slot) -> Value? {
    if !live.isEmpty, let value = live[slot] { return value }
    return page?.value(slot, of: Int(place))
  }
  /// The object's own value in a slot; nil where the row's holds.
  @inline(__always)
  final func own(_ slot: Slot) -> Value? {
    if !live.isEmpty, let value = live[slot] { return value }
    return state.contains(.ownsRow) ? page?.value(slot, of: Int(place)) : nil
  }
  /// The values in all slots; nil where there are none.
  final var currentValues: ContiguousArray<Value>? {
    guard hasLiveValues || page != nil else { return nil }
    return ContiguousArray(entity.properties.map { current($0.slot) ?? .null })
  }
  /// What a slot holds, if that passes without a value made of it.
  @inline(__always)
  final func currentRawCell(_ slot: Slot) -> RawCell {
    if !live.isEmpty, let value = live[slot] { return RawCell(of: value) }
    return page?.rawCell(slot, of: Int(place)) ?? RawCell(.null)
  }
  /// Whether a slot has this value.
  @inline(__always)
  final func holds(_ value: Value, slot: Slot) -> Bool {
    if !live.isEmpty, let own = live[slot] { return own.isSame(as: value) }
    return page?.cell(slot, of: Int(place)).isSame(as: value) ?? value.isNull
  }
  /// Slots that may differ from the snapshot, by whichever door: what a save writes.
  final var changed: SlotSet { SlotSet(low: changedLow, high: record?.changedHigh ?? []) }
  /// The version of the row, where there is one.
  final var rowVersion: Int64? { snapshot?.version }
}
