public import MoonbaseModel
import OrderedCollections

/// The IDs of the objects that a save wrote, usable outside the context that saved them.
public struct SavedObjectIDs: Sendable, Hashable {
  /// The IDs of inserted objects.
  public let inserted: [ManagedObjectID]
  /// The IDs of objects whose values or destinations changed.
  public let updated: [ManagedObjectID]
  /// The IDs of deleted objects.
  public let deleted: [ManagedObjectID]
  /// Whether the list is incomplete: any object may be changed or deleted.
  public let isUnspecified: Bool
  /// Entities without a complete list: any object of these or their subentities may be changed or deleted.
  public let entityNames: [String]

  /// Makes a list of changed objects, for example from a notification of another process.
  public init(
    inserted: [ManagedObjectID] = [], updated: [ManagedObjectID] = [], deleted: [ManagedObjectID] = []
  ) {
    self.init(inserted: inserted, updated: updated, deleted: deleted, entityNames: [])
  }

  private init(
    inserted: [ManagedObjectID] = [], updated: [ManagedObjectID] = [], deleted: [ManagedObjectID] = [],
    isUnspecified: Bool = false, entityNames: [String]
  ) {
    (self.inserted, self.updated, self.deleted) = (inserted, updated, deleted)
    (self.isUnspecified, self.entityNames) = (isUnspecified, entityNames)
  }

  /// Any object may be changed: a context that merges this refreshes all its objects.
  public static let anything = SavedObjectIDs(isUnspecified: true, entityNames: [])

  /// Any object of some entities and their subentities may be changed or deleted: a context that merges this refreshes
  /// its objects of these. Batch requests without a result of IDs return it.
  public static func anything(of entityNames: [String]) -> SavedObjectIDs {
    SavedObjectIDs(entityNames: Set(entityNames).sorted())
  }

  /// The objects that a store wrote. A link counts as a change of both ends, a derived value as a change of its owner.
  package init(_ changes: StoreChanges, deriving derived: [ManagedObjectID] = []) {
    (isUnspecified, entityNames) = (false, [])
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

extension SavedObjectIDs {
  /// The number of IDs and entities listed.
  package var count: Int { inserted.count + updated.count + deleted.count + entityNames.count }

  /// Combines several saves in order. An object that was inserted and then updated is in both lists, as contexts may
  /// have read it in between; a deleted object is only in `deleted`.
  package init(all: [SavedObjectIDs]) {
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
