import MoonbaseModel

/// What was there before each change, for as long as that may be wanted back: a save, a transaction, or an insertion with hooks.
///
/// Nothing is kept outside of savepoints, and nothing of objects that were inserted within the innermost one, for they go as a
/// whole. An undo manager keeps one open around all others, the base, and takes from it what it may undo.
struct ChangeJournal {
  /// A moment to which changes can be undone. Savepoints end in the reverse order of their beginning.
  struct Savepoint {
    fileprivate let start: Int
    fileprivate let outer: UInt32
  }

  private var changes = ChangeSequence()
  /// How many changes of the outermost savepoint cannot be undone any more: savepoints count these too.
  private var forgottenCount = 0
  /// New objects that left the context while that could be undone.
  private var departed: [ManagedObject] = []
  /// The number of the innermost savepoint; 0 where there is none.
  private(set) var current: UInt32 = 0
  /// The number of the base; 0 where there is none.
  private(set) var base: UInt32 = 0
  /// Whether what is recorded within another savepoint than the base is no business of the undo manager.
  var isUnregistered = false
  private var last: UInt32 = 0
  /// The bytes that it keeps, by estimate, and those of which the context was told.
  private var weight = 0
  private var toldWeight = 0
  private static let weighingStride = 1 << 16

  @inline(__always)
  var isActive: Bool { current != 0 }
  /// How many changes it keeps.
  var count: Int { changes.count }

  /// Whether no savepoint is open but the base.
  var isSettled: Bool { current == base }
  /// All that it keeps; what the base keeps, where that is open.
  var all: ChangeSequence { changes }
  /// Whether there is an undo step among it.
  var hasSteps: Bool { changes.contains(where: \.isStep) }

  mutating func begin() -> Savepoint {
    let savepoint = Savepoint(start: forgottenCount + changes.count, outer: current)
    current = nextNumber()
    return savepoint
  }

  private mutating func nextNumber() -> UInt32 {
    last = last == .max ? 1 : last + 1
    return last
  }

  /// Opens the base, or another one in its place. Nothing but the base may be open; the result are those that left meanwhile.
  mutating func beginBase() -> [ManagedObject] {
    let departed = endBase()
    current = nextNumber()
    base = current
    return departed
  }

  /// Ends the base, if there is one; the result are those that left meanwhile.
  mutating func endBase() -> [ManagedObject] {
    (current, base) = (0, 0)
    defer { forgottenCount = 0 }
    return forget()
  }

  /// What happened up to now cannot be undone by the undo manager.
  mutating func unregisterAll() {
    for index in changes.indices { changes[index].isUnregistered = true }
  }

  /// Ends a savepoint. After the outermost one nothing can be undone any more; the result are those that left meanwhile.
  mutating func end(_ savepoint: Savepoint) -> [ManagedObject] {
    current = savepoint.outer
    guard !isActive else { return [] }
    defer { forgottenCount = 0 }
    return forget()
  }

  /// What happened up to now cannot be undone any more; the result are those that left meanwhile.
  mutating func forget() -> [ManagedObject] {
    forgottenCount += changes.count
    changes.removeAll()
    weight = 0
    guard !departed.isEmpty else { return [] }
    defer { departed = [] }
    return departed
  }

  /// Whether what changes of an object is kept. What awake-from-fetch sets belongs to the values that are read, and goes when
  /// they go.
  @inline(__always)
  func records(_ object: ManagedObject) -> Bool {
    isActive && object.savepoint != current && !object.state.contains(.awaking)
  }

  mutating func append(_ change: Change) {
    if case .presence = change.former { departed.append(change.object) }
    append(change, weight: change.weight)
  }

  /// The same where the caller knows what it weighs. It moves here, for a copy costs as much as all else.
  @inline(__always)
  private mutating func append(_ change: consuming Change, weight bytes: Int) {
    weight &+= bytes
    change.isUnregistered = isUnregistered
    changes.append(change)
  }

  /// A value of an object's row is another one now, or is about to be.
  @inline(__always)
  mutating func append(_ object: ManagedObject, _ slot: Slot, _ own: Value?, isMarked: Bool) {
    guard let own else {
      // Mostly: then there is no value to copy.
      return append(
        Change(object: object, former: .value(Change.Own(slot, nil, isMarked: isMarked))), weight: Change.ownWeight)
    }
    let bytes = Change.ownWeight &+ own.weight
    append(
      Change(object: object, former: .value(Change.Own(slot, own, isMarked: isMarked))), weight: bytes)
  }

  private func index(of savepoint: Savepoint) -> Int { max(0, savepoint.start - forgottenCount) }

  /// The objects that changed, came or went since a savepoint; with `noted` only those for which that was not silent.
  func objects(since savepoint: Savepoint, noted: Bool = false) -> [ManagedObject] {
    var objects = DistinctObjects()
    for change in changes[index(of: savepoint)...] where change.isChange && !(noted && change.isSilent) {
      objects.append(change.object)
    }
    return objects.elements
  }

  /// Whether anything is kept since a savepoint.
  func hasChanges(since savepoint: Savepoint) -> Bool { index(of: savepoint) < changes.count }

  /// The first object that changed, came or went since a savepoint, where that was not silent, and the slot.
  func firstNoted(since savepoint: Savepoint) -> (object: ManagedObject, slot: Slot?)? {
    guard hasChanges(since: savepoint) else { return nil }
    return changes[index(of: savepoint)...].first { $0.isChange && !$0.isSilent }.map { ($0.object, $0.slot) }
  }

  /// What changed of an object after so many changes is no reason to call anything for it again.
  mutating func silence(_ object: ManagedObject, after count: Int) {
    for index in changes.indices.dropFirst(count) where changes[index].object === object {
      changes[index].isSilent = true
    }
  }

  /// Takes out the changes since a savepoint, the last first.
  mutating func take(since savepoint: Savepoint) -> [Change] {
    let start = index(of: savepoint)
    let taken = Array(changes[start...].reversed())
    changes.truncate(to: start)
    for change in taken { weight &-= change.weight }
    return taken
  }

  /// Whether it is worth telling what it keeps; without a savepoint it keeps nothing.
  var hasNewWeight: Bool { isActive ? weight &- toldWeight > Self.weighingStride : toldWeight != 0 }

  /// The bytes that came since the context was told.
  mutating func takeGrowth() -> Int {
    defer { toldWeight = weight }
    return weight &- toldWeight
  }
}
