import DequeModule
import MoonbaseModel
import MoonbasePlatform

/// Reads the destinations of many deleted objects at once before their delete rules run: a cascade over thousands of
/// objects costs a few statements for each level.
///
/// Used by one run of delete rules. A write in between makes the read lists useless, so the next reads begin with small
/// numbers again.
struct DeletionPrefetch {
  /// The destinations of one object.
  struct Destinations {
    /// The stored lists by slot, as far as they were read.
    fileprivate(set) var lists: [Slot: [ManagedObjectID]] = [:]
    /// Whether the rows of all destinations were also read.
    fileprivate(set) var haveRows = false
  }

  /// The context of the objects.
  let context: ManagedObjectContext
  /// The lists of objects whose rules have not run yet.
  private var waiting: [ManagedObjectID: Destinations] = [:]
  /// The number of writes when the lists were read. A later write by a hook or another thread makes them outdated.
  private var writingCount: Int
  /// The number of objects that are read together; small after a read that was of no use.
  private var size = [Snapshot].batchSize

  /// Nothing is read yet.
  init(_ context: ManagedObjectContext) {
    self.context = context
    writingCount = context.source.writingCount
  }

  /// The destinations of an object. The destinations of further waiting objects of its entity are read at the same
  /// time. Empty for a new object.
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

  /// Reads the destinations of an object and of the next waiting objects of the same entity. Reads at most `size`
  /// objects, rows first and then the lists of each relationship.
  private mutating func read(_ object: ManagedObject) throws {
    var owners = [object]
    for other in context.deletions.toPropagate.prefix(size - 1)
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
    // The row cache would not hold more until they are needed.
    guard destinations.count <= RowCache.usualCapacity else { return }
    try context.loadRows(of: Array(destinations))
    for id in ids { waiting[id]?.haveRows = true }
  }

  /// Whether a relationship has a delete rule to apply. Relationships with the rule `noAction` and transient ones are
  /// not read.
  private func isLookedAt(_ slot: Slot, of entity: ResolvedEntity) -> Bool {
    guard let relationship = entity.properties[slot].relationship?.description else { return false }
    return relationship.deleteRule.concernsDestinations && !relationship.isTransient
  }
}
