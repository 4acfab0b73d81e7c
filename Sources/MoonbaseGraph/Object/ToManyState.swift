import MoonbaseModel
import OrderedCollections

/// The destinations of one to-many relationship of one object.
///
/// Until the relationship is read, only what came and what went since the last save is known: adding ten thousand objects to
/// a relationship does not read it.
final class ToManyState {
  /// The destinations, if loaded.
  @exclusivity(unchecked) private(set) var members: OrderedSet<ManagedObjectID> = []
  @exclusivity(unchecked) private(set) var isLoaded: Bool
  /// Destinations that came since the last save.
  @exclusivity(unchecked) private(set) var added: OrderedSet<ManagedObjectID> = []
  /// Destinations that went since the last save.
  @exclusivity(unchecked) private(set) var removed: OrderedSet<ManagedObjectID> = []
  /// Whether the order changed since the last save.
  @exclusivity(unchecked) private(set) var isReordered = false
  private let isOrdered: Bool

  init(isOrdered: Bool, isLoaded: Bool) {
    self.isOrdered = isOrdered
    self.isLoaded = isLoaded
  }

  var hasChanges: Bool { isReordered || !added.isEmpty || !removed.isEmpty }

  /// Takes the saved destinations in, and puts what changed meanwhile on top.
  func load(_ saved: [ManagedObjectID]) {
    members = OrderedSet(saved)
    for id in removed { members.drop(id, keepingOrder: isOrdered) }
    for id in added { members.append(id) }
    isLoaded = true
  }

  /// Forgets the saved destinations, so that the next access reads them anew; what changed stays. An order that was set
  /// stays as it is: it holds for the destinations it was set for.
  func unload() {
    guard !isReordered else { return }
    members = []
    isLoaded = false
  }

  /// Returns whether the destination was not there. An unloaded relationship cannot know and believes the caller.
  @discardableResult
  func add(_ id: ManagedObjectID) -> Bool {
    if isLoaded, !members.append(id).inserted { return false }
    if !removed.drop(id), !added.append(id).inserted { return false }
    if isOrdered { isReordered = true }
    return true
  }

  @discardableResult
  func remove(_ id: ManagedObjectID) -> Bool {
    if isLoaded, !members.drop(id, keepingOrder: isOrdered) { return false }
    if !added.drop(id), !removed.append(id).inserted { return false }
    return true
  }

  /// Puts the destinations in this order; they must be the same set.
  func reorder(_ ids: [ManagedObjectID]) {
    members = OrderedSet(ids)
    isReordered = true
  }

  /// Replaces temporary IDs, which only those that came have, and forgets what changed: the state is saved.
  func didSave(permanent: [ManagedObjectID: ManagedObjectID]) {
    if isLoaded, added.contains(where: \.isTemporaryID) {
      if isOrdered || added.count > members.count / 4 {
        members = OrderedSet(members.map { $0.isTemporaryID ? permanent[$0] ?? $0 : $0 })
      } else {
        // A few that came to many cost what they are, not what is there.
        for id in added where id.isTemporaryID {
          if let new = permanent[id], members.drop(id) { members.append(new) }
        }
      }
    }
    added = []
    removed = []
    isReordered = false
  }
}

extension OrderedSet {
  /// Takes an element out in constant time, or keeps the order of the others; false if it was not there.
  @discardableResult
  fileprivate mutating func drop(_ element: Element, keepingOrder: Bool = false) -> Bool {
    guard let index = firstIndex(of: element) else { return false }
    if !keepingOrder {
      swapAt(index, count - 1)
      removeLast()
    } else {
      remove(at: index)
    }
    return true
  }
}
