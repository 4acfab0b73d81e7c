import MoonbaseModel

/// Recording of former states in the context's journal.
///
/// Without a savepoint, observers and cached values, nothing is recorded, which is the usual case while importing.
extension ManagedObject {
  /// The cause of changes: values that are set while the object awakes belong to the row.
  @inline(__always)
  final var cause: Derivations.Cause { state.contains(.awaking) ? .row : .change }

  /// Records the former state before a change, if the context needs it. `former` is evaluated only if it is needed.
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

  /// The value in a slot, as the former state of a change. Nil inside means that the value of the row applies.
  final func formerValue(_ slot: Slot) -> Change.Former {
    .value(Change.Own(slot, own(slot), transformed: transformed(slot), isMarked: isMarked(slot)))
  }

  /// The object's state, its position in the list of changes, and whether a slot is marked as changed. The former state
  /// of a change that marks something.
  struct Flags {
    /// The flags of the object.
    let state: State
    /// The slot whose mark may change; nil for none.
    let slot: Slot?
    /// Whether the slot was marked as changed.
    let isMarked: Bool
    /// The place in the list of changes.
    let position: Int
  }

  /// The current flags of the object and the mark of a slot.
  final func flags(_ slot: Slot?) -> Flags {
    Flags(state: state, slot: slot, isMarked: slot.map(isMarked) ?? false, position: changePosition)
  }

  /// The row with all values and states above it.
  ///
  /// A class, because it is rarely needed and large.
  final class Reading {
    /// The state and the place in the list of changes.
    let flags: Flags
    /// The row, with values beside it.
    let row: ObjectRow
    /// The changed slots from 64 on.
    let changedHigh: Set<Slot>
    /// The values assigned to delayed attributes.
    let delayed: SlotMap<Value>
    /// The states of to-many relationships.
    let relationships: SlotMap<ToManyState>
    /// The bytes of the row, for the journal.
    let weight: Int

    /// Copies references only.
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
