import MoonbaseModel
import MoonbasePlatform

/// Reads the destinations of relationships for many objects at once: to-many IDs into the objects, rows into the row cache.
struct Prefetch {
  let context: ManagedObjectContext
  let objects: [ManagedObject]

  func run(_ paths: [String]) throws {
    for path in paths {
      let keys = path.split(separator: ".")
      var owners = objects
      for (depth, key) in keys.enumerated() {
        let ids = try load(String(key), of: owners, areHeld: depth == 0, isLast: depth + 1 == keys.count)
        // At the end of the path the rows are enough: who asks for the objects makes them.
        if depth + 1 < keys.count { owners = try context.objects(with: ids) }
      }
    }
  }

  /// The bytes that the ID of a destination takes while its row is read: in a list, in a set, and in lists of those missing.
  private static let idWeight = 64

  /// Loads one relationship and returns its destinations, each once.
  private func load(
    _ key: String, of owners: [ManagedObject], areHeld: Bool, isLast: Bool
  ) throws -> [ManagedObjectID] {
    var memory = HostMemory()
    var ids: [ManagedObjectID] = []
    var readsLater = false
    for (_, group) in Dictionary(grouping: owners, by: { $0.entity.index }) {
      guard let entity = group.first?.entity else { continue }
      guard let property = entity.property(key), property.relationship != nil else {
        throw GraphError(
          .invalidRequest, message: "cannot prefetch \(key): \(entity.name) has no such relationship",
          entity: entity.name,
          property: key)
      }
      if case .toMany = property.kind {
        readsLater = areHeld && isLast
        try loadToMany(property.slot, of: group, areHeld: areHeld)
      }
      for owner in group {
        try HostWork.charge()
        let destinations = try owner.objectIDs(forRelationshipNamed: key)
        try memory.hold(Self.idWeight &* destinations.count)
        ids += destinations
      }
    }
    try HostWork.charge(ids.count)
    let unique = Array(Set(ids))
    // More than the row cache keeps would be read for nothing; each list then reads its own when it is walked.
    if !readsLater || unique.count <= RowCache.usualCapacity { try context.loadRows(of: unique) }
    return unique
  }

  /// The objects of the result keep their destinations themselves. Owners further down the path are let go when the prefetch
  /// is done: the IDs of theirs wait in the context.
  private func loadToMany(_ slot: Slot, of owners: [ManagedObject], areHeld: Bool) throws {
    let missing = owners.filter { !$0.objectID.isTemporaryID && !$0.toManyState(slot).isLoaded }
    for (_, group) in try context.coordinator.byStore(missing.map(\.objectID)) {
      let lists = try context.coordinator.destinations(of: group, relationship: slot, in: context.view)
      try HostWork.charge(lists.count)
      for (id, list) in zip(group, lists) {
        if areHeld, let owner = context.registeredObject(for: id) {
          let known = owner.toManyState(slot)
          try owner.load(list, into: known, slot: slot)
          known.wantsRows = true
        } else {
          context.prefetched.insert(list, for: PrefetchKey(id: id, slot: slot))
        }
      }
    }
  }
}
