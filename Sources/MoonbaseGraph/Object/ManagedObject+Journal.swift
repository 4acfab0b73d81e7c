import MoonbaseModel

/// Recording of former states in the context's journal.
extension ManagedObject {
  /// The cause of changes: values that are set while the object awakes belong to the row.
  @inline(__always)
  final var cause: Derivations.Cause { state.contains(.awaking) ? .row : .change }

  /// Records the former state before a change, if the context needs it.
  @inline(__always)
  final func remember(
    _ former: @autoclosure () -> Change.Former, _ facet: Facet? = nil, because cause: Derivations.Cause = .change,
    silently: Bool = false
  ) {
    guard let context, context.journal.isActive || context.derivations.isWatching || isWatched else { return }
    context.record(former(), of: self, facet, because: cause, silently: silently)
  }

  /// Records the value in a slot before a change.
  @inline(__always)
  final func rememberValue(_ slot: Slot, because cause: Derivations.Cause = .change, silently: Bool = false) {
    remember(formerValue(slot), Facet(slot), because: cause, silently: silently)
  }

  /// The value in a slot, as the former state of a change.
  final func formerValue(_ slot: Slot) -> Change.Former {
    .value(Change.Own(slot, own(slot), transformed: transformed(slot), isMarked: isMarked(slot)))
  }

  /// The object's state, its position in the list of changes, and whether a slot is marked as changed.
  struct Flags {
    let state: State
    let slot: Slot?
    let isMarked: Bool
    let position: Int
  }

  /// The current flags of the object and the mark of a slot.
  final func flags(_ slot: Slot?) -> Flags {
    Flags(state: state, slot: slot, isMarked: slot.map(isMarked) ?? false, position: changePosition)
  }

  /// The row with all values and states above it.
  final class Reading {
    let flags: Flags
    let row: ObjectRow
    let changedHigh: Set<Slot>
    let delayed: SlotMap<Value>
    let relationships: SlotMap<ToManyState>
    let weight: Int

    fileprivate init(of object: ManagedObject) {
      flags = object.flags(nil)
      (row, changedHigh) = (object.row, object.record?.changedHigh ?? [])
      (delayed, relationships) = (object.delayed, object.relationships)
      weight = row.weight
    }
  }

  /// The current row with all values and states above it.
  final var reading: Reading { Reading(of: self) }
}
