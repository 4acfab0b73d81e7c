import MoonbaseModel

/// One change of an object, told by what was there before it.
///
/// To put that back is a change as well, which has something before it: that is how an undone change is done again.
struct Change {
  enum Former {
    /// The object's own value in a slot, nil where it was the row's, what a transformer had made of it, and whether the slot counted as
    /// changed.
    case value(Slot, Value?, transformed: Value?, isMarked: Bool)
    /// The value that waited for will-save in a slot.
    case delayed(Slot, Value?)
    /// Whether the object was in the list of changes, and as what; and whether a slot counted as changed.
    case flags(ManagedObject.Flags)
    /// What a destination was to a to-many relationship, and where it stood.
    case destination(Slot, ToManyState, ToManyState.Step)
    /// The order of all destinations.
    case order(Slot, ToManyState, ToManyState.Contents)
    /// What was known of the destinations before they were read or forgotten, which is no change of them.
    case members(Slot, ToManyState, ToManyState.Contents)
    /// The row, and all that was on top of it, before a newer row came or the object became a fault, which is no change either.
    case row(ManagedObject.Reading)
    /// The object was not there.
    case absence
    /// The object was there, new, in this place of the list of changes.
    case presence(ManagedObject.State, position: Int)
  }

  let object: ManagedObject
  let former: Former
  /// Whether it is no reason to call `willSave` or rules for the object again: primitive values, and what follows from elsewhere.
  var isSilent = false
  /// Whether undo registration was off: no undo manager puts it back, only who fails.
  var isUnregistered = false

  /// Whether it makes an undo step.
  var isStep: Bool { isChange && !isSilent && !isUnregistered }

  /// Whether the object was not there before, or was to go.
  var bringsBack: Bool {
    switch former {
    case .absence: true
    case .flags(let flags): flags.state.contains(.deleted)
    default: false
    }
  }

  /// Whether something is another value now, and not only read anew.
  var isChange: Bool {
    switch former {
    case .members, .row: false
    default: true
    }
  }

  /// With the room of an array that grows.
  static let ownWeight = 160

  /// The bytes that it keeps, by estimate: former values are no longer counted as their object's.
  var weight: Int {
    switch former {
    case .value(_, let own, let transformed, _): Self.ownWeight &+ (own?.weight ?? 0) &+ (transformed?.weight ?? 0)
    case .delayed(_, let value): Self.ownWeight &+ (value?.weight ?? 0)
    case .order(_, _, let contents), .members(_, _, let contents): Self.ownWeight &+ contents.weight
    case .row(let reading): Self.ownWeight &+ reading.weight
    case .flags, .destination, .absence, .presence: Self.ownWeight
    }
  }
}
