public import MoonbaseModel
import OrderedCollections

/// The IDs of objects that changed in a context (`ContextChange`) or are about to be saved, usable outside the context.
public struct ChangedObjectIDs: Sendable, Hashable {
  /// Objects that were inserted, or whose removal was undone.
  public private(set) var inserted: [ManagedObjectID]
  /// Objects that changed in any other way.
  public private(set) var updated: [ManagedObjectID]
  /// Objects marked for deletion, and new objects that were removed.
  public private(set) var deleted: [ManagedObjectID]
  /// Objects that were refreshed, or whose changes were discarded.
  public private(set) var refreshed: [ManagedObjectID]
  /// Whether all objects were removed from the context (`reset`), before the listed changes.
  public private(set) var isInvalidated = false
  /// Whether too many changes were pending to list them: any object may have changed.
  public private(set) var isUnspecified = false

  init(
    inserted: [ManagedObjectID] = [], updated: [ManagedObjectID] = [], deleted: [ManagedObjectID] = [],
    refreshed: [ManagedObjectID] = [], isInvalidated: Bool = false
  ) {
    (self.inserted, self.updated, self.deleted, self.refreshed) = (inserted, updated, deleted, refreshed)
    self.isInvalidated = isInvalidated
  }
}

extension ChangedObjectIDs: ObjectIDNotification {
  var count: Int { inserted.count + updated.count + deleted.count + refreshed.count }

  static var anything: ChangedObjectIDs {
    var all = ChangedObjectIDs()
    all.isUnspecified = true
    return all
  }

  /// Combines changes, with each ID once, except that a new object that changed later is in both lists.
  init(all: [ChangedObjectIDs]) {
    var (inserted, deleted) = (OrderedSet<ManagedObjectID>(), OrderedSet<ManagedObjectID>())
    var (updated, refreshed) = (inserted, inserted)
    let begin = all.lastIndex(where: \.isInvalidated) ?? 0
    for change in all[begin...] {
      inserted.append(contentsOf: change.inserted)
      updated.append(contentsOf: change.updated)
      refreshed.append(contentsOf: change.refreshed)
      // An object that came back is not deleted, and a deleted object is in no other list.
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
