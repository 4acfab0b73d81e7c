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
          .invalidRequest, "cannot prefetch \(key): \(entity.name) has no such relationship", entity: entity.name,
          property: key)
      }
      if case .toMany = property.kind { try loadToMany(property.slot, group, areHeld) }
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
  private func loadToMany(_ slot: Int, _ owners: [ManagedObject], _ areHeld: Bool) throws {
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

/// Destinations of objects that nobody may hold yet.
///
/// Bounded: two generations of at most `capacity` IDs. What is no longer here is read when it is asked for.
struct PrefetchedLists {
  private static let capacity = 1 << 16

  private var young: [PrefetchKey: [ManagedObjectID]] = [:]
  private var old: [PrefetchKey: [ManagedObjectID]] = [:]
  private var weight = 0

  /// How many lists wait.
  var count: Int { young.count + old.count }

  mutating func insert(_ list: [ManagedObjectID], for key: PrefetchKey) {
    young[key] = list
    weight += 1 + list.count
    guard weight > Self.capacity else { return }
    (old, young, weight) = (young, [:], 0)
  }

  subscript(key: PrefetchKey) -> [ManagedObjectID]? { young[key] ?? old[key] }
}

/// A to-many relationship of one object.
struct PrefetchKey: Hashable {
  var id: ManagedObjectID
  var slot: Int
}

extension ManagedObjectContext {
  /// Reads what relationships of objects lead to, many at a time, as a request does with key paths for prefetching.
  package func prefetch(_ keyPaths: [String], of objects: [ManagedObject]) throws {
    if !keyPaths.isEmpty { try Prefetch(context: self, objects: objects).run(keyPaths) }
  }

  /// Reads rows that are not here yet into the row cache and into the faults that wait for them.
  func loadRows(of ids: [ManagedObjectID]) throws {
    let missing = ids.filter { id in
      !id.isTemporaryID && registered[id].map { $0.takeUnretainedValue().snapshot == nil } ?? true
    }
    for snapshot in try coordinator.snapshots(of: missing) {
      registered[snapshot.id]?.takeUnretainedValue().takeRow(snapshot)
    }
  }
}
