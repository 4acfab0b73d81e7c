import MoonbaseModel
import OrderedCollections

/// The changes since the last event, collected from the journal.
package struct ChangeEvent {
  struct Observer {
    weak var observation: ChangeObservation?
    let pointer: ObjectIdentifier
  }

  var observers: [Observer] = []
  /// The sequences of changed IDs; nil before the first is requested.
  var sequences: NotificationListeners<ChangedObjectIDs>?
  /// For each inserted or removed object, whether it existed when the event began.
  private var presence: OrderedDictionary<ManagedObject, Bool> = [:]
  /// Objects that may have changed, with their former state.
  private var updated: OrderedDictionary<ManagedObject, Difference> = [:]
  private var refreshed: OrderedSet<ManagedObject> = []
  private var isInvalidated = false
  /// The number of journal entries processed.
  private var position: Int
  var isTelling = false
  /// The former values in the event that observers are being notified of.
  private var told: [ObjectIdentifier: [Slot: Value]] = [:]

  /// The former state of an object.
  fileprivate struct Difference {
    /// The former values of attributes and to-one relationships.
    var values: [Slot: Value] = [:]
    /// The changes of to-many relationships, in order.
    var lists: [Slot: [Change.Former]] = [:]
    /// Whether the object changed in a way that values and lists do not show.
    var isCertain = false
  }

  /// Begins after `count` entries of the journal.
  init(after count: Int) { position = count }

  /// Collects new entries of the journal; `isLast` tells that the journal is then cleared.
  mutating func collect(_ changes: ChangeSequence, isLast: Bool) {
    for change in changes.dropFirst(position) { note(change) }
    position = isLast ? 0 : changes.count
  }

  /// Records an entry of the journal.
  private mutating func note(_ change: Change) {
    let object = change.object
    switch change.former {
    case .absence: meet(object, wasThere: false)
    case .presence: meet(object, wasThere: true)
    case .flags(let flags): meet(object, wasThere: !flags.state.contains(.deleted))
    case .row(let reading): meet(object, wasThere: !reading.flags.state.contains(.deleted))
    case .value(let own): noteValue(own, of: object)
    case .delayed: updated[object, default: Difference()].isCertain = true
    case .destination(_, let step):
      updated[object, default: Difference()].lists[step.slot, default: []].append(change.former)
    case .order(let slot, _, _): updated[object, default: Difference()].lists[slot, default: []].append(change.former)
    // Loading a list is not a change by itself, but is needed to compare the list's states.
    case .members(let slot, _, _): updated[object]?.lists[slot]?.append(change.former)
    }
  }

  /// Records the former value of an attribute or to-one relationship.
  private mutating func noteValue(_ own: Change.Own, of object: ManagedObject) {
    guard updated[object]?.values[own.slot] == nil else { return }
    let value = own.value ?? object.snapshot?.values[own.slot] ?? .null
    updated[object, default: Difference()].values[own.slot] = value
    // A save may have written the row since, so the former value cannot be compared.
    if own.value == nil, !object.state.contains(.listed) { updated[object]?.isCertain = true }
  }

  /// Records that an object changed, even if no value shows it.
  mutating func noteChange(of object: ManagedObject) { updated[object, default: Difference()].isCertain = true }

  /// Records whether an object existed before the current operation.
  mutating func meet(_ object: ManagedObject, wasThere: Bool) {
    if presence[object] == nil { presence[object] = wasThere }
  }

  /// Records objects whose changes were discarded.
  mutating func rollback(_ objects: [ManagedObject]) {
    for object in objects {
      updated[object] = nil
      refreshed.append(object)
    }
  }

  /// Records that an object or a list of it was refreshed.
  mutating func refresh(_ object: ManagedObject) { refreshed.append(object) }

  /// Records that all objects were removed from the context.
  mutating func invalidateAll() {
    (presence, updated, refreshed) = ([:], [:], [])
    isInvalidated = true
  }

  /// The former values of an object in slots that changed during the event, including changes not yet collected. While
  /// observers are notified of an event, the changes of that event also count.
  func formerValues(of object: ManagedObject, _ changes: ChangeSequence) -> [Slot: Value] {
    let number = ObjectIdentifier(object)
    var values = (told[number] ?? [:]).merging(updated[object]?.values ?? [:]) { earlier, _ in earlier }
    for change in changes.dropFirst(position) where change.object === object {
      guard case .value(let own) = change.former, values[own.slot] == nil else { continue }
      values[own.slot] = own.value ?? object.snapshot?.values[own.slot] ?? .null
    }
    return values
  }

  /// Returns the changes of the event, and begins the next event.
  mutating func end(in context: ManagedObjectContext) -> ContextChange {
    func isThere(_ object: ManagedObject) -> Bool { object.context === context && !object.isDeleted }
    let came = OrderedSet(presence.filter { !$1 && isThere($0) }.keys)
    let went = presence.filter { $1 && !isThere($0) }.keys
    let others = OrderedSet(updated.filter { isThere($0) && !came.contains($0) && $1.isFound(in: $0) }.keys)
    let change = ContextChange(
      inserted: Array(came), updated: Array(others), deleted: Array(went),
      refreshed: refreshed.filter { isThere($0) && !others.contains($0) && !came.contains($0) },
      isInvalidated: isInvalidated)
    told = Dictionary(uniqueKeysWithValues: updated.map { (ObjectIdentifier($0), $1.values) })
    (presence, updated, refreshed, isInvalidated) = ([:], [:], [], false)
    return change
  }

  /// Forgets the event after observers were notified.
  mutating func forgetTold() { told = [:] }
}

extension ChangeEvent.Difference {
  /// Whether the object's current values differ.
  fileprivate func isFound(in object: ManagedObject) -> Bool {
    isCertain || values.contains { slot, value in !(object.current(slot) ?? .null).isSame(as: value) }
      || lists.contains { slot, changes in !isSame(slot, of: object, before: changes) }
  }

  /// Whether the current destinations equal those before the changes.
  private func isSame(_ slot: Slot, of object: ManagedObject, before changes: [Change.Former]) -> Bool {
    guard let now = object.relationships[slot] else { return false }
    let before = now.copy()
    for change in changes.reversed() {
      switch change {
      case .destination(let state, let step) where state === now: before.restore(step)
      case .order(_, let state, let contents) where state === now: before.restore(contents)
      case .members(_, let state, let contents) where state === now: before.restore(contents)
      default: return false
      }
    }
    return before.isSame(as: now)
  }
}
