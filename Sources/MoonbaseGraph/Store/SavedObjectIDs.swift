public import MoonbaseModel
import OrderedCollections

/// The objects that a save wrote, by their IDs: what may leave the context that saved them.
public struct SavedObjectIDs: Sendable, Hashable {
  /// Objects that are new in their store.
  public let inserted: [ManagedObjectID]
  /// Objects with other values or other destinations than before.
  public let updated: [ManagedObjectID]
  /// Objects that are gone.
  public let deleted: [ManagedObjectID]
  /// Whether so much was saved that it is not listed: any object may be another one, or gone.
  public let mayBeAnything: Bool

  /// Makes a list of what was saved, for example of what another process tells.
  public init(
    inserted: [ManagedObjectID] = [], updated: [ManagedObjectID] = [], deleted: [ManagedObjectID] = []
  ) {
    (self.inserted, self.updated, self.deleted, mayBeAnything) = (inserted, updated, deleted, false)
  }

  private init(mayBeAnything: Bool) {
    (inserted, updated, deleted, self.mayBeAnything) = ([], [], [], mayBeAnything)
  }

  /// What says that any object may be another one: who merges it reads all objects anew that it has.
  public static let anything = SavedObjectIDs(mayBeAnything: true)

  /// What a store wrote. Pairs change the objects at both ends, and what a store derives the objects whose it is.
  init(_ changes: StoreChanges, deriving derived: [ManagedObjectID] = []) {
    mayBeAnything = false
    inserted = changes.inserted.ids
    deleted = changes.deleted.map(\.id)
    var seen = Set(inserted).union(deleted)
    var updated: [ManagedObjectID] = []
    func note(_ id: ManagedObjectID) { if seen.insert(id).inserted { updated.append(id) } }
    for id in changes.updated.rows.ids { note(id) }
    for links in changes.links {
      note(links.owner)
      for id in links.added { note(id) }
      for id in links.removed { note(id) }
    }
    for id in derived { note(id) }
    self.updated = updated
  }
}

extension SavedObjectIDs: ObjectIDNews {
  /// How many IDs it lists.
  var count: Int { inserted.count + updated.count + deleted.count }

  /// What several saves came to, one after the other. An object that was new and then changed is both, for it may have been read
  /// between; one that is gone is nothing else.
  init(all: [SavedObjectIDs]) {
    var inserted: OrderedSet<ManagedObjectID> = []
    var updated = inserted
    var deleted = inserted
    for saved in all {
      inserted.append(contentsOf: saved.inserted)
      updated.append(contentsOf: saved.updated)
      deleted.append(contentsOf: saved.deleted)
    }
    self.init(
      inserted: inserted.filter { !deleted.contains($0) }, updated: updated.filter { !deleted.contains($0) },
      deleted: Array(deleted))
  }
}
