import MoonbaseModel

/// A change of an object, described by the former state.
///
/// Restoring the former state is a change as well, whose own former state allows a redo.
package struct Change {
  /// The former state of an object.
  enum Former {
    /// The object's own value in a slot.
    case value(Own)
    /// The delayed value in a slot, which waited for will-save.
    case delayed(Slot, Value?)
    /// The object's state in the list of changes, and whether a slot was marked as changed.
    case flags(ManagedObject.Flags)
    /// The former membership of a destination in a to-many relationship, and its position.
    case destination(ToManyState, ToManyState.Step)
    /// The former order of all destinations.
    case order(Slot, ToManyState, ToManyState.Contents)
    /// The known destinations before they were read or forgotten; reading and forgetting are no changes.
    case members(Slot, ToManyState, ToManyState.Contents)
    /// The row with the values above it, before a newer row arrived or the object became a fault; neither is a change.
    case row(ManagedObject.Reading)
    /// The object did not exist.
    case absence
    /// The object existed as a new object, at this position of the list of changes.
    case presence(ManagedObject.State, position: Int)
  }

  /// A value in a slot. Kept small: each journal entry has the size of the largest case, and every set value makes an
  /// entry.
  struct Own {
    /// The cached value that a transformer made.
    private let made: Made?
    /// The value; nil if the row held it.
    let value: Value?
    private let shortSlot: Int32
    /// Whether the slot was marked as changed.
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

  package let object: ManagedObject
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

  /// Whether the change triggers no further `willSave` or rules: primitive values and consequences of other changes.
  var isSilent: Bool {
    get { marks.contains(.silent) }
    set { if newValue { marks.insert(.silent) } else { marks.remove(.silent) } }
  }
  /// Whether undo registration was off. Only a failing operation restores such a change, no undo manager.
  var isUnregistered: Bool {
    get { marks.contains(.unregistered) }
    set { if newValue { marks.insert(.unregistered) } else { marks.remove(.unregistered) } }
  }

  /// Whether the change makes an undo step.
  var isStep: Bool { isChange && !isSilent && !isUnregistered }

  /// Whether the change inserted the object, or restored it from deletion.
  var bringsBack: Bool {
    switch former {
    case .absence: true
    case .flags(let flags): flags.state.contains(.deleted)
    default: false
    }
  }

  /// Whether a value changed, and was not only read or forgotten.
  var isChange: Bool {
    switch former {
    case .members, .row: false
    default: true
    }
  }

  /// The slot; nil for a change of the object as a whole.
  var slot: Slot? {
    switch former {
    case .value(let own): own.slot
    case .delayed(let slot, _), .order(let slot, _, _), .members(let slot, _, _): slot
    case .destination(_, let step): step.slot
    case .flags(let flags): flags.slot
    case .row, .absence, .presence: nil
    }
  }

  /// An estimate of the entry's bytes, with its share of a journal part.
  static let ownWeight = 56

  /// An estimate of the bytes that the change keeps. The former value no longer counts as the object's memory.
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
