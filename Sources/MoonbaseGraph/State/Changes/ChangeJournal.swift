import MoonbaseModel

/// The former state before each change, kept as long as a save, transaction or insertion may have to be undone.
///
/// Outside of savepoints nothing is kept. Changes of an object that was inserted within the innermost savepoint are not
/// kept either, since undoing removes the whole object. An undo manager keeps a savepoint open around all others, the
/// base, and takes its undo steps from there.
package struct ChangeJournal {
  /// A point to which changes can be undone. Savepoints are nested.
  struct Savepoint {
    fileprivate let start: Int
    fileprivate let outer: UInt32
  }

  private var changes = ChangeSequence()
  /// The number of changes of the outermost savepoint that were forgotten; positions of savepoints include them.
  private var forgottenCount = 0
  /// New objects that left the context while their insertion could still be undone.
  private var departed: [ManagedObject] = []
  /// The number of the innermost savepoint; 0 without one.
  private(set) var current: UInt32 = 0
  /// The number of the base; 0 without one.
  private(set) var base: UInt32 = 0
  /// Whether changes within a savepoint other than the base are hidden from the undo manager.
  var isUnregistered = false
  private var last: UInt32 = 0
  /// An estimate of the kept bytes, and the number that was last reported to the context.
  private var weight = 0
  private var toldWeight = 0
  /// The change of weight in bytes after which the context is notified.
  private static let weighingStride = 1 << 16

  /// Whether a savepoint is open, so that changes are recorded.
  @inline(__always)
  var isActive: Bool { current != 0 }
  /// The number of changes.
  var count: Int { changes.count }

  /// Whether no savepoint is open except the base.
  var isSettled: Bool { current == base }
  /// All kept changes; if no savepoint but the base is open, these are the base's changes.
  package var all: ChangeSequence { changes }
  /// Whether the changes include an undo step.
  var hasSteps: Bool { changes.contains(where: \.isStep) }

  /// Opens a savepoint within the innermost savepoint.
  mutating func begin() -> Savepoint {
    let savepoint = Savepoint(start: forgottenCount + changes.count, outer: current)
    current = nextNumber()
    return savepoint
  }

  private mutating func nextNumber() -> UInt32 {
    last = last == .max ? 1 : last + 1
    return last
  }

  /// Opens the base, or replaces it. No other savepoint may be open. Returns the objects that left meanwhile.
  mutating func beginBase() -> [ManagedObject] {
    let departed = endBase()
    current = nextNumber()
    base = current
    return departed
  }

  /// Ends the base, if there is one. Returns the objects that left meanwhile.
  mutating func endBase() -> [ManagedObject] {
    (current, base) = (0, 0)
    defer { forgottenCount = 0 }
    return forget()
  }

  /// Hides all changes up to now from the undo manager.
  mutating func unregisterAll() {
    for index in changes.indices { changes[index].isUnregistered = true }
  }

  /// Ends a savepoint. After the outermost savepoint, changes cannot be undone; returns the objects that left
  /// meanwhile.
  mutating func end(_ savepoint: Savepoint) -> [ManagedObject] {
    current = savepoint.outer
    guard !isActive else { return [] }
    defer { forgottenCount = 0 }
    return forget()
  }

  /// Forgets all changes, so that they cannot be undone. Returns the objects that left meanwhile.
  mutating func forget() -> [ManagedObject] {
    forgottenCount += changes.count
    changes.removeAll()
    weight = 0
    guard !departed.isEmpty else { return [] }
    defer { departed = [] }
    return departed
  }

  /// Whether changes of an object are recorded.
  ///
  /// Values that awake-from-fetch sets are not: they belong to the values read, and are dropped together with them.
  @inline(__always)
  func records(_ object: ManagedObject) -> Bool {
    isActive && object.savepoint != current && !object.state.contains(.awaking)
  }

  /// Appends a change, which may be the removal of a new object.
  mutating func append(_ change: Change) {
    if case .presence = change.former { departed.append(change.object) }
    append(change, weight: change.weight)
  }

  /// Appends a change of known weight. Moves the change, because a copy would cost as much as all other work here.
  @inline(__always)
  private mutating func append(_ change: consuming Change, weight bytes: Int) {
    weight &+= bytes
    change.isUnregistered = isUnregistered
    changes.append(change)
  }

  /// Records the former value of a row's slot, after or before its change.
  @inline(__always)
  mutating func append(_ object: ManagedObject, _ slot: Slot, _ own: Value?, isMarked: Bool) {
    guard let own else {
      // The usual case, in which no value has to be copied.
      return append(
        Change(object: object, former: .value(Change.Own(slot, nil, isMarked: isMarked))), weight: Change.ownWeight)
    }
    let bytes = Change.ownWeight &+ own.weight
    append(
      Change(object: object, former: .value(Change.Own(slot, own, isMarked: isMarked))), weight: bytes)
  }

  /// The index of the first change after a savepoint.
  private func index(of savepoint: Savepoint) -> Int { max(0, savepoint.start - forgottenCount) }

  /// The objects that were changed, inserted or removed since a savepoint; with `noted`, only by changes that are not
  /// silent.
  func objects(since savepoint: Savepoint, noted: Bool = false) -> [ManagedObject] {
    var objects = DistinctObjects()
    for change in changes[index(of: savepoint)...] where change.isChange && !(noted && change.isSilent) {
      objects.append(change.object)
    }
    return objects.elements
  }

  /// Whether any change was recorded since a savepoint.
  func hasChanges(since savepoint: Savepoint) -> Bool { index(of: savepoint) < changes.count }

  /// The first change since a savepoint that is not silent: its object and slot.
  func firstNoted(since savepoint: Savepoint) -> (object: ManagedObject, slot: Slot?)? {
    guard hasChanges(since: savepoint) else { return nil }
    return changes[index(of: savepoint)...].first { $0.isChange && !$0.isSilent }.map { ($0.object, $0.slot) }
  }

  /// Makes the changes of an object silent, after the first `count` changes, so that they trigger no further hooks.
  mutating func silence(_ object: ManagedObject, after count: Int) {
    for index in changes.indices.dropFirst(count) where changes[index].object === object {
      changes[index].isSilent = true
    }
  }

  /// Removes and returns the changes since a savepoint, the last change first.
  mutating func removeChanges(since savepoint: Savepoint) -> [Change] {
    let start = index(of: savepoint)
    let taken = Array(changes[start...].reversed())
    changes.truncate(to: start)
    for change in taken { weight &-= change.weight }
    return taken
  }

  /// Whether the weight changed enough to be reported; without a savepoint the journal keeps nothing.
  var hasNewWeight: Bool { isActive ? weight &- toldWeight > Self.weighingStride : toldWeight != 0 }

  /// Returns the growth in bytes since the last report.
  mutating func drainGrowth() -> Int {
    defer { toldWeight = weight }
    return weight &- toldWeight
  }
}
