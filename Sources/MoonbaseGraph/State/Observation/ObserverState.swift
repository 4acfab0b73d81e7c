import MoonbaseModel
import OrderedCollections

/// The state of one observer of an object, with the changes since its last notification.
class ObserverState {
  /// Unowned: the observer's token retains the object while this state is registered.
  unowned let object: ManagedObject
  /// Whether the observer waits to be notified.
  var isWaiting = false
  var isOver = false
  /// The number of notifications since no observer was waiting.
  var timesTold = 0

  init(_ object: ManagedObject) { self.object = object }

  /// Records that a facet of the object changed or is about to; `member` is the destination that was added or removed,
  /// if known. Returns whether the observer must be notified.
  func note(_ facet: Facet, because cause: Derivations.Cause, member: ManagedObjectID?) -> Bool { false }

  /// Compares values before new objects get permanent IDs, while the old IDs are valid.
  func prepareForNewIDs() {}

  /// Notifies the observer if the value changed.
  func tell() {}

  /// Whether a change of the value shows only by comparison.
  var isOpen: Bool { false }
  /// Whether the observer is registered as open.
  var isListedAsOpen = false
  /// Whether the observer is notified of a removed object.
  var outlivesObject: Bool { false }
}

/// The observer of an attribute or a to-one relationship.
final class ValueObserver: ObserverState {
  private let slot: Slot
  private let handler: (ObservedChange) -> Void
  private var value: Value = .null
  /// Whether the value changed, rather than only the ID of the destination.
  private var isOther = false

  init(_ object: ManagedObject, slot: Slot, handler: @escaping (ObservedChange) -> Void) {
    (self.slot, self.handler) = (slot, handler)
    super.init(object)
    value = current()
  }

  /// Whether the last read of the value failed.
  private var hasFailed = false

  /// The current value; null, with the error kept in the context, if it cannot be read.
  private func current() -> Value {
    do {
      let value = try object.value(at: slot)
      hasFailed = false
      return value
    } catch {
      // Kept only once, because the value may be compared repeatedly.
      if !hasFailed { object.context?.keep(error) }
      hasFailed = true
      return .null
    }
  }

  override func note(_ facet: Facet, because cause: Derivations.Cause, member: ManagedObjectID?) -> Bool {
    guard facet.slot == slot else { return false }
    if cause != .identity { isOther = true }
    return true
  }

  override func tell() {
    let isRenamed = !isOther && !isListedAsOpen
    let (old, new) = (value, current())
    value = new
    isOther = false
    if !isRenamed, !old.isSame(as: new) { handler(ObservedChange(object, slot: slot, old: old, new: new)) }
  }

  override var isOpen: Bool {
    guard case .derived = try? object.behavior().kind(slot) else { return false }
    guard let reads = object.caches[slot]?.reads else { return true }
    return reads.changeCount != nil
  }
}

/// The observer of a to-many relationship: keeps the known destinations, and compares those that were recorded as
/// changed.
final class MembersObserver: ObserverState {
  private let slot: Slot
  private let isOrdered: Bool
  private let handler: (ObservedChange) -> Void
  /// The destinations at the last comparison; in order if the relationship is ordered.
  private var members = MemberList()
  private var noted: OrderedSet<ManagedObjectID> = []
  /// Whether any destination may have been added, removed or moved.
  private var isUnknown = false
  /// Whether destinations got other IDs, without other changes.
  private var isRenamed = false
  private var isReordered = false
  // With the objects of new destinations, whose IDs may change before the notification.
  private var inserted: [ManagedObjectID: ManagedObject?] = [:]
  private var removed: [ManagedObjectID: ManagedObject?] = [:]

  init(_ object: ManagedObject, slot: Slot, handler: @escaping (ObservedChange) -> Void) {
    (self.slot, self.handler) = (slot, handler)
    isOrdered = object.entity.properties[slot].relationship?.isOrdered == true
    super.init(object)
    members = MemberList(unique: current)
  }

  private var current: [ManagedObjectID] { object.keepingErrors(or: []) { try object.memberIDs(slot) } }

  override func note(_ facet: Facet, because cause: Derivations.Cause, member: ManagedObjectID?) -> Bool {
    guard facet.slot == slot else { return false }
    if let member {
      if isRenamed { rename(but: member) }
      noted.append(member)
    } else if cause == .identity {
      // Changes before the renaming are compared by the old IDs.
      compare()
      isRenamed = true
    } else {
      isUnknown = true
    }
    return true
  }

  override func prepareForNewIDs() { compare() }

  /// Adopts the new IDs of destinations, including pending changes. `member` is a destination that was just added or
  /// removed.
  private func rename(but member: ManagedObjectID? = nil) {
    isRenamed = false
    members = MemberList(unique: current)
    if let member, members.remove(member, keepingOrder: isOrdered) == nil { members.append(member) }
    (inserted, removed) = (renamed(inserted), renamed(removed))
  }

  private func renamed(_ objects: [ManagedObjectID: ManagedObject?]) -> [ManagedObjectID: ManagedObject?] {
    Dictionary(objects.map { id, object in (object?.objectID ?? id, object) }) { first, _ in first }
  }

  /// Determines the added and removed destinations.
  private func compare() {
    if isRenamed { rename() }
    if !isUnknown, let known = object.relationships[slot], known.isLoaded, !mayBeReordered(by: known) {
      for id in noted(asIn: known) where known.contains(id) != members.contains(id) { toggle(id) }
    } else if isUnknown || !noted.isEmpty {
      compare(MemberList(unique: current))
    }
    (noted, isUnknown) = ([], false)
  }

  /// Whether an ordered relationship may have another order: a noted destination was a member before and is one now.
  private func mayBeReordered(by known: ToManyState) -> Bool {
    isOrdered && noted.contains { known.contains($0) && members.contains($0) }
  }

  /// The noted destinations in the order of the list, because added destinations were appended in that order.
  private func noted(asIn known: ToManyState) -> [ManagedObjectID] {
    guard isOrdered, noted.count > 1 else { return Array(noted) }
    return noted.map { ($0, known.index(of: $0) ?? -1) }.sorted { $0.1 < $1.1 }.map(\.0)
  }

  /// Compares the destinations with those of the last comparison.
  private func compare(_ list: MemberList) {
    var (before, now) = (members, list)
    let came = list.filter { !before.contains($0) }
    let went = members.filter { !now.contains($0) }
    if isOrdered {
      let stayed = members.lazy.filter { now.contains($0) }
      if !stayed.elementsEqual(list.lazy.filter { before.contains($0) }) { isReordered = true }
    }
    for id in came + went { toggle(id) }
    members = list
  }

  /// Adds or removes a destination, and records the change for the notification.
  private func toggle(_ id: ManagedObjectID) {
    let new = id.isTemporaryID ? object.context?.registeredObject(for: id) : nil
    if members.remove(id, keepingOrder: isOrdered) != nil {
      if inserted.removeValue(forKey: id) == nil { removed[id] = .some(new) }
    } else {
      members.append(id)
      if removed.removeValue(forKey: id) == nil { inserted[id] = .some(new) }
    }
  }

  override func tell() {
    compare()
    let (came, went, wasReordered) = (inserted, removed, isReordered)
    (inserted, removed, isReordered) = ([:], [:], false)
    guard !came.isEmpty || !went.isEmpty || wasReordered else { return }
    func ids(_ objects: [ManagedObjectID: ManagedObject?]) -> [ManagedObjectID] {
      objects.map { id, object in object?.objectID ?? id }
    }
    handler(ObservedChange(object, slot: slot, inserted: ids(came), removed: ids(went)))
  }
}

/// The observer of an object as a whole.
final class ObjectObserver: ObserverState {
  private let handler: (ObjectChange) -> Void
  private var slots = SlotSet()
  private var wasDeleted: Bool

  init(_ object: ManagedObject, handler: @escaping (ObjectChange) -> Void) {
    self.handler = handler
    wasDeleted = object.isDeleted
    super.init(object)
  }

  override var outlivesObject: Bool { true }

  override func note(_ facet: Facet, because cause: Derivations.Cause, member: ManagedObjectID?) -> Bool {
    if facet == .state || cause == .identity { return false }
    if let slot = facet.slot { slots.insert(slot) }
    return true
  }

  override func tell() {
    let keys = Set(slots.slots.map { object.entity.property(at: $0).name })
    slots = SlotSet()
    let isDeleted = object.isDeleted || object.context == nil
    guard !keys.isEmpty || isDeleted != wasDeleted else { return }
    wasDeleted = isDeleted
    handler(ObjectChange(object: object, keys: keys, isDeleted: isDeleted))
  }
}
