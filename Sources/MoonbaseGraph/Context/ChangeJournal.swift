import MoonbaseModel
import OrderedCollections

/// What objects were like before they changed, for as long as that may be wanted back: a save, or an insertion with
/// hooks.
///
/// Nothing is noted outside of savepoints. An object's own values are noted once for each savepoint, destinations one by one,
/// because a relationship may have a million of them.
struct ChangeJournal {
  /// A moment to which changes can be undone. Savepoints end in the reverse order of their beginning.
  struct Savepoint {
    fileprivate let start, weight: Int
    fileprivate let outer: UInt32
  }

  enum Entry {
    /// The object was like this.
    case changed(ManagedObject, ManagedObject.Memo)
    /// A destination of the object was like this.
    case destination(ManagedObject, Slot, ToManyState, ToManyState.Step)
    /// The destinations of the object were in this order.
    case order(ManagedObject, Slot, ToManyState, ToManyState.Order)
    /// The object was not there.
    case inserted(ManagedObject)
    /// The object was new, was deleted and left the context.
    case dropped(ManagedObject, ManagedObject.State)

    var object: ManagedObject {
      switch self {
      case .changed(let object, _), .destination(let object, _, _, _), .order(let object, _, _, _),
        .inserted(let object),
        .dropped(let object, _):
        object
      }
    }

    /// The bytes that it keeps, by estimate: former values are no longer counted as their object's.
    fileprivate var weight: Int {
      switch self {
      case .changed(let object, _): Self.ownWeight &+ object.liveWeight
      case .order(_, _, _, let order): Self.ownWeight &+ order.weight
      case .destination, .inserted, .dropped: Self.ownWeight
      }
    }

    /// With the room of an array that grows.
    private static let ownWeight = 160
  }

  private var entries: ContiguousArray<Entry> = []
  /// The objects that left the context while that could be undone.
  private var dropped: [ManagedObject] = []
  /// The number of the innermost savepoint; 0 where there is none.
  private(set) var current: UInt32 = 0
  private var last: UInt32 = 0
  /// The bytes that it keeps, by estimate, and those of which the context was told.
  private var weight = 0
  private var toldWeight = 0
  private static let weighingStride = 1 << 16

  var isActive: Bool { current != 0 }

  mutating func begin() -> Savepoint {
    let savepoint = Savepoint(start: entries.count, weight: weight, outer: current)
    last = last == .max ? 1 : last + 1
    current = last
    return savepoint
  }

  /// Ends a savepoint. After the outermost one nothing can be undone any more; the result are those that left meanwhile.
  mutating func end(_ savepoint: Savepoint) -> [ManagedObject] {
    current = savepoint.outer
    guard !isActive else { return [] }
    entries.removeAll(keepingCapacity: entries.count < 64)
    weight = 0
    return dropped.isEmpty ? [] : takeDropped()
  }

  mutating func note(_ entry: Entry) {
    guard isActive else { return }
    entries.append(entry)
    weight &+= entry.weight
    if case .dropped(let object, _) = entry { dropped.append(object) }
  }

  private mutating func takeDropped() -> [ManagedObject] {
    defer { dropped = [] }
    return dropped
  }

  /// The objects that changed, came or went since a savepoint.
  func objects(since savepoint: Savepoint) -> OrderedSet<ManagedObject> {
    OrderedSet(entries[savepoint.start...].lazy.map(\.object))
  }

  /// Takes out what was noted since a savepoint, the last first.
  mutating func take(since savepoint: Savepoint) -> [Entry] {
    let taken = Array(entries[savepoint.start...].reversed())
    entries.removeSubrange(savepoint.start...)
    weight = savepoint.weight
    return taken
  }

  /// Whether it is worth telling what it keeps; without a savepoint it keeps nothing.
  fileprivate var hasNewWeight: Bool { isActive ? weight &- toldWeight > Self.weighingStride : toldWeight != 0 }

  /// The bytes that came since the context was told.
  fileprivate mutating func takeGrowth() -> Int {
    defer { toldWeight = weight }
    return weight &- toldWeight
  }
}

extension ManagedObjectContext {
  /// Notes what was before a change.
  func note(_ entry: ChangeJournal.Entry) {
    journal.note(entry)
    if journal.hasNewWeight { weigh(journal.takeGrowth()) }
  }

  /// Runs `body`; on an error all that it changed here is as it was.
  package func undoingOnFailure<Result>(_ body: () throws -> Result) throws -> Result {
    let savepoint = journal.begin()
    defer { endSavepoint(savepoint) }
    do {
      return try body()
    } catch {
      undo(since: savepoint) { _ in false }
      throw error
    }
  }

  /// Ends a savepoint: once nothing can be undone, who left for good keeps no values.
  func endSavepoint(_ savepoint: ChangeJournal.Savepoint) {
    for object in journal.end(savepoint) where object.managedObjectContext == nil { object.letGo(of: self) }
    if journal.hasNewWeight { weigh(journal.takeGrowth()) }
  }

  /// Undoes what was changed since a savepoint, but for objects that are to keep it.
  func undo(since savepoint: ChangeJournal.Savepoint, keeping isKept: (ManagedObject) -> Bool) {
    for entry in journal.take(since: savepoint) where !isKept(entry.object) { undo(entry) }
    changeCount &+= 1
  }

  private func undo(_ entry: ChangeJournal.Entry) {
    switch entry {
    case .changed(let object, let memo): undo(object, memo: memo)
    case .destination(let object, let slot, let state, let step):
      state.undo(step)
      object.outdate(slot)
    case .order(let object, let slot, let state, let order):
      state.undo(order)
      object.outdate(slot)
    case .inserted(let object):
      changedObjects.remove(object)
      disown(object, because: .rolledBack)
    case .dropped(let object, let state):
      object.enter(self, state: state)
      changedObjects.append(object)
      newDeletedObjects.append(object)
      object.outdateAll()
    }
  }

  /// The lists follow what the object is again.
  private func undo(_ object: ManagedObject, memo: ManagedObject.Memo) {
    let former = object.state
    object.restore(memo)
    changedObjects.note(object)
    if former.contains(.listed), !object.state.contains(.listed) { changedObjects.remove(object) }
    if former.contains(.propagated), !object.state.contains(.propagated) { deletionsToPropagate.append(object) }
  }
}
