import DequeModule
import MoonbaseModel
import MoonbasePlatform

/// What deleted objects lead to, read for many of those that wait for their delete rules at once: a cascade over thousands of objects
/// costs a few statements for each of its levels.
struct DeletionsAhead {
  /// What one object leads to.
  struct Destinations {
    /// Its stored lists by slot, as far as they were read.
    fileprivate(set) var lists: [Slot: [ManagedObjectID]] = [:]
    /// Whether the rows of all destinations were read too.
    fileprivate(set) var haveRows = false
  }

  let context: ManagedObjectContext
  private var waiting: [ManagedObjectID: Destinations] = [:]
  /// What had been written when they were read: whatever a hook or another thread saves there makes them old.
  private var writingCount: Int
  /// Of how many objects they are read together: of few where that was for nothing.
  private var size = [Snapshot].batchSize

  init(_ context: ManagedObjectContext) {
    self.context = context
    writingCount = context.source.writingCount
  }

  /// What an object leads to. That of objects of its kind that are still to come is read with it.
  mutating func destinations(of object: ManagedObject) throws -> Destinations {
    guard !object.objectID.isTemporaryID else { return Destinations() }
    let count = context.source.writingCount
    if count != writingCount {
      (writingCount, waiting, size) = (count, [:], 1)
    } else if let known = waiting.removeValue(forKey: object.objectID) {
      return known
    }
    try read(object)
    size = min([Snapshot].batchSize, 8 * size)
    return waiting.removeValue(forKey: object.objectID) ?? Destinations()
  }

  private mutating func read(_ object: ManagedObject) throws {
    var owners = [object]
    for other in context.deletionsToPropagate.prefix(size - 1)
    where other.table.toOpaque() == object.table.toOpaque() && other.state.contains(.deleted)
      && !other.state.contains(.propagated)
      && !other.objectID.isTemporaryID
    {
      owners.append(other)
    }
    guard owners.count > 1 else { return }
    let ids = owners.map(\.objectID)
    try context.loadRows(of: ids)
    var destinations = Set<ManagedObjectID>()
    for slot in object.entity.toOneSlots where isLookedAt(slot, of: object.entity) {
      for case .objectID(let id)? in owners.lazy.map({ $0.current(slot) }) { destinations.insert(id) }
    }
    for id in ids { waiting[id] = Destinations() }
    for slot in object.entity.toManySlots where isLookedAt(slot, of: object.entity) {
      try HostWork.charge(ids.count)
      for (id, list) in zip(ids, try context.source.destinations(of: ids, relationship: slot, in: context.view)) {
        waiting[id]?.lists[slot] = list
        destinations.formUnion(list)
      }
    }
    // More would not stay until they are wanted.
    guard destinations.count <= RowCache.usualCapacity else { return }
    try context.loadRows(of: Array(destinations))
    for id in ids { waiting[id]?.haveRows = true }
  }

  private func isLookedAt(_ slot: Slot, of entity: ResolvedEntity) -> Bool {
    guard let relationship = entity.properties[slot].relationship?.description else { return false }
    return relationship.deleteRule != .noAction && !relationship.isTransient
  }
}
