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
  /// Entities of which so much was saved that it is not listed: any object of them or their subentities may be another one, or gone.
  public let entityNames: [String]

  /// Makes a list of what was saved, for example of what another process tells.
  public init(
    inserted: [ManagedObjectID] = [], updated: [ManagedObjectID] = [], deleted: [ManagedObjectID] = []
  ) {
    self.init(inserted: inserted, updated: updated, deleted: deleted, entityNames: [])
  }

  private init(
    inserted: [ManagedObjectID] = [], updated: [ManagedObjectID] = [], deleted: [ManagedObjectID] = [],
    mayBeAnything: Bool = false, entityNames: [String]
  ) {
    (self.inserted, self.updated, self.deleted) = (inserted, updated, deleted)
    (self.mayBeAnything, self.entityNames) = (mayBeAnything, entityNames)
  }

  /// What says that any object may be another one: who merges it reads all objects anew that it has.
  public static let anything = SavedObjectIDs(mayBeAnything: true, entityNames: [])

  /// What says that any object of some entities and their subentities may be another one, or gone: who merges it reads anew those that it has.
  /// Batch requests say so that were asked for no IDs.
  public static func anything(of entityNames: [String]) -> SavedObjectIDs {
    SavedObjectIDs(entityNames: Set(entityNames).sorted())
  }

  /// What a store wrote. Pairs change the objects at both ends, and what a store derives the objects whose it is.
  init(_ changes: StoreChanges, deriving derived: [ManagedObjectID] = []) {
    (mayBeAnything, entityNames) = (false, [])
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
  var count: Int { inserted.count + updated.count + deleted.count + entityNames.count }

  /// What several saves came to, one after the other. An object that was new and then changed is both, for it may have been read
  /// between; one that is gone is nothing else.
  init(all: [SavedObjectIDs]) {
    var inserted: OrderedSet<ManagedObjectID> = []
    var updated = inserted
    var deleted = inserted
    var entityNames: Set<String> = []
    for saved in all {
      inserted.append(contentsOf: saved.inserted)
      updated.append(contentsOf: saved.updated)
      deleted.append(contentsOf: saved.deleted)
      entityNames.formUnion(saved.entityNames)
    }
    self.init(
      inserted: inserted.filter { !deleted.contains($0) }, updated: updated.filter { !deleted.contains($0) },
      deleted: Array(deleted), entityNames: entityNames.sorted())
  }
}
