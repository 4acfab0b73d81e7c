import MoonbaseModel
import MoonbasePlatform

/// Reads the destinations of relationships for many objects at once: to-many IDs into the objects, rows into the row cache.
struct Prefetch {
  let context: ManagedObjectContext
  let objects: [ManagedObject]

  func run(_ paths: [String]) throws {
    for path in paths {
      var current = objects
      for (depth, key) in path.split(separator: ".").enumerated() {
        current = try load(String(key), of: current, areHeld: depth == 0)
      }
    }
  }

  /// Loads one relationship and returns its destinations as objects.
  private func load(_ key: String, of owners: [ManagedObject], areHeld: Bool) throws -> [ManagedObject] {
    var ids: [ManagedObjectID] = []
    for (_, group) in Dictionary(grouping: owners, by: { $0.entity.index }) {
      guard let entity = group.first?.entity else { continue }
      guard let property = entity.property(key), property.relationship != nil else {
        throw GraphError(
          .invalidRequest, message: "cannot prefetch \(key): \(entity.name) has no such relationship",
          entity: entity.name,
          property: key)
      }
      if case .toMany = property.kind { try loadToMany(property.slot, of: group, areHeld: areHeld) }
      for owner in group {
        try HostWork.charge()
        ids += try owner.objectIDs(forRelationshipNamed: key)
      }
    }
    try HostWork.charge(ids.count)
    let unique = Array(Set(ids))
    try context.loadRows(of: unique)
    return try context.objects(with: unique)
  }

  /// The objects of the result keep their destinations themselves. Owners further down the path are let go when the prefetch
  /// is done: the IDs of theirs wait in the context.
  private func loadToMany(_ slot: Slot, of owners: [ManagedObject], areHeld: Bool) throws {
    let missing = owners.filter { !$0.objectID.isTemporaryID && !$0.toManyState(slot).isLoaded }
    for (store, group) in try context.coordinator.byStore(missing.map(\.objectID)) {
      let lists = try store.destinations(of: group, relationship: slot)
      try HostWork.charge(lists.count)
      for (id, list) in zip(group, lists) {
        if areHeld, let owner = context.registeredObject(for: id) {
          owner.toManyState(slot).load(list)
        } else {
          context.prefetched.insert(list, for: PrefetchKey(id: id, slot: slot))
        }
      }
    }
  }
}
