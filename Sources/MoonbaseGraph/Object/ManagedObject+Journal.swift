import MoonbaseModel

/// What the journal hears of an object: what was there before a change.
extension ManagedObject {
  /// What is set while the object wakes up belongs to the row.
  @inline(__always)
  final var cause: Derivations.Cause { state.contains(.awaking) ? .row : .change }

  /// Something of the object is about to be another: tells the context what was there before, where it wants to know.
  @inline(__always)
  final func remember(
    _ former: @autoclosure () -> Change.Former, _ facet: Facet? = nil, because cause: Derivations.Cause = .change,
    silently: Bool = false
  ) {
    guard let context, context.journal.isActive || context.derivations.isWatching || isWatched else { return }
    context.record(former(), of: self, facet, because: cause, silently: silently)
  }

  /// The value in a slot is about to be another one.
  @inline(__always)
  final func rememberValue(_ slot: Slot, because cause: Derivations.Cause = .change, silently: Bool = false) {
    remember(formerValue(slot), Facet(slot), because: cause, silently: silently)
  }

  /// What a slot holds before a change of it.
  final func formerValue(_ slot: Slot) -> Change.Former {
    .value(Change.Own(slot, own(slot), transformed: transformed(slot), isMarked: isMarked(slot)))
  }

  /// Whether the object is in the list of changes, as what, and where; and whether a slot counts as changed.
  struct Flags {
    let state: State
    let slot: Slot?
    let isMarked: Bool
    let position: Int
  }

  final func flags(_ slot: Slot?) -> Flags {
    Flags(state: state, slot: slot, isMarked: slot.map(isMarked) ?? false, position: changePosition)
  }

  /// The row, and what is on top of it.
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

  final var reading: Reading { Reading(of: self) }
}
