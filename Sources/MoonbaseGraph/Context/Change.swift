import MoonbaseModel

/// One change of an object, told by what was there before it.
///
/// To put that back is a change as well, which has something before it: that is how an undone change is done again.
struct Change {
  enum Former {
    /// The object's own value in a slot.
    case value(Own)
    /// The value that waited for will-save in a slot.
    case delayed(Slot, Value?)
    /// Whether the object was in the list of changes, and as what; and whether a slot counted as changed.
    case flags(ManagedObject.Flags)
    /// What a destination was to a to-many relationship, and where it stood.
    case destination(ToManyState, ToManyState.Step)
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

  /// A value in a slot. An entry of the journal is as long as the longest of these, and there are as many as values that are set.
  struct Own {
    /// What a transformer had made of it.
    private let made: Made?
    /// Nil where it was the row's.
    let value: Value?
    private let shortSlot: Int32
    /// Whether the slot counted as changed.
    let isMarked: Bool

    init(_ slot: Slot, _ value: Value?, transformed: Value? = nil, isMarked: Bool) {
      (shortSlot, self.value, made) = (Int32(slot), value, transformed.map(Made.init))
      self.isMarked = isMarked
    }

    var slot: Slot { Int(shortSlot) }
    var transformed: Value? { made?.value }

    private final class Made {
      let value: Value

      init(_ value: Value) { self.value = value }
    }
  }

  let object: ManagedObject
  let former: Former
  private var marks: Marks = []

  init(object: ManagedObject, former: Former, isSilent: Bool = false) {
    (self.object, self.former) = (object, former)
    if isSilent { marks = .silent }
  }

  private struct Marks: OptionSet {
    let rawValue: UInt8
    static let silent = Marks(rawValue: 1)
    static let unregistered = Marks(rawValue: 2)
  }

  /// Whether it is no reason to call `willSave` or rules for the object again: primitive values, and what follows from elsewhere.
  var isSilent: Bool {
    get { marks.contains(.silent) }
    set { if newValue { marks.insert(.silent) } else { marks.remove(.silent) } }
  }
  /// Whether undo registration was off: no undo manager puts it back, only who fails.
  var isUnregistered: Bool {
    get { marks.contains(.unregistered) }
    set { if newValue { marks.insert(.unregistered) } else { marks.remove(.unregistered) } }
  }

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

  /// The slot that it is about; nil for the object as a whole.
  var slot: Slot? {
    switch former {
    case .value(let own): own.slot
    case .delayed(let slot, _), .order(let slot, _, _), .members(let slot, _, _): slot
    case .destination(_, let step): step.slot
    case .flags(let flags): flags.slot
    case .row, .absence, .presence: nil
    }
  }

  /// With its share of a part of the journal.
  static let ownWeight = 56

  /// The bytes that it keeps, by estimate: former values are no longer counted as their object's.
  var weight: Int {
    switch former {
    case .value(let own): Self.ownWeight &+ (own.value?.weight ?? 0) &+ (own.transformed?.weight ?? 0)
    case .delayed(_, let value): Self.ownWeight &+ (value?.weight ?? 0)
    case .order(_, _, let contents), .members(_, _, let contents): Self.ownWeight &+ contents.weight
    case .row(let reading): Self.ownWeight &+ reading.weight
    case .flags, .destination, .absence, .presence: Self.ownWeight
    }
  }
}
