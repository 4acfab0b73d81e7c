public import MoonbaseModel
import OrderedCollections

/// The objects that changed in a context (`ContextChange`), or that are to be saved, by their IDs: what may leave the context.
public struct ChangedObjectIDs: Sendable, Hashable {
  /// Objects that came, or came back.
  public private(set) var inserted: [ManagedObjectID]
  /// Objects of which something else changed.
  public private(set) var updated: [ManagedObjectID]
  /// Objects that are to go, and new ones that are gone again.
  public private(set) var deleted: [ManagedObjectID]
  /// Objects that were read anew, or whose changes were given up.
  public private(set) var refreshed: [ManagedObjectID]
  /// Whether the context forgot all of its objects, before the others are what they are.
  public private(set) var isInvalidated = false
  /// Whether so much changed before anybody read of it that it is not listed: any object may be another one.
  public private(set) var mayBeAnything = false

  init(
    inserted: [ManagedObjectID] = [], updated: [ManagedObjectID] = [], deleted: [ManagedObjectID] = [],
    refreshed: [ManagedObjectID] = [], isInvalidated: Bool = false
  ) {
    (self.inserted, self.updated, self.deleted, self.refreshed) = (inserted, updated, deleted, refreshed)
    self.isInvalidated = isInvalidated
  }
}

extension ChangedObjectIDs: ObjectIDNews {
  var count: Int { inserted.count + updated.count + deleted.count + refreshed.count }

  static var anything: ChangedObjectIDs {
    var all = ChangedObjectIDs()
    all.mayBeAnything = true
    return all
  }

  /// Each ID once, but for new objects that changed later.
  init(all: [ChangedObjectIDs]) {
    var (inserted, deleted) = (OrderedSet<ManagedObjectID>(), OrderedSet<ManagedObjectID>())
    var (updated, refreshed) = (inserted, inserted)
    let begin = all.lastIndex(where: \.isInvalidated) ?? 0
    for change in all[begin...] {
      inserted.append(contentsOf: change.inserted)
      updated.append(contentsOf: change.updated)
      refreshed.append(contentsOf: change.refreshed)
      // One that came back is not gone, and one that goes is nothing else.
      for id in change.inserted { deleted.remove(id) }
      for id in change.deleted {
        inserted.remove(id)
        deleted.append(id)
      }
    }
    self.init(
      inserted: Array(inserted), updated: updated.filter { !deleted.contains($0) }, deleted: Array(deleted),
      refreshed: refreshed.filter { !deleted.contains($0) }, isInvalidated: all[begin].isInvalidated)
  }
}
