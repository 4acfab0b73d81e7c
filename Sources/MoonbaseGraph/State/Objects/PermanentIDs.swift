import MoonbaseModel

/// The permanent IDs of the new objects of a save, by temporary ID.
///
/// Temporary keys of one context and entity are consecutive, as are the keys that a store reserves. So runs of
/// temporary keys map to runs of permanent keys, and the offset in the run gives the ID. A new object that was removed
/// before the save ends a run.
struct PermanentIDs {
  /// Consecutive temporary keys with the permanent keys assigned to them.
  private struct Run {
    let entity: Symbol
    let index: EntityIndex
    /// The first temporary key.
    let start: Int64
    var count: Int64
    /// The store, and the first permanent key; 0 until keys are reserved.
    var store = StoreNumber(rawValue: 0)
    var key: Int64 = 0
  }

  /// The runs, in the order of temporary keys after `assign`.
  private var runs: ContiguousArray<Run> = []
  /// For each entity, the index of its last run.
  private var last: ContiguousArray<Int32>

  /// An empty map, for a model with `entityCount` entities.
  init(entityCount: Int) { last = ContiguousArray(repeating: -1, count: entityCount) }

  /// Whether there are no new objects.
  var isEmpty: Bool { runs.isEmpty }

  /// Adds a temporary ID. Objects of an entity get keys in the order in which they are added.
  @inline(__always)
  mutating func note(_ id: ManagedObjectID, of entity: EntityIndex) {
    let index = Int(last[entity])
    if index >= 0, runs[index].start &+ runs[index].count == id.key {
      runs[index].count &+= 1
    } else {
      begin(id, of: entity)
    }
  }

  private mutating func begin(_ id: ManagedObjectID, of entity: EntityIndex) {
    last[entity] = Int32(runs.count)
    runs.append(Run(entity: id.entitySymbol, index: entity, start: id.key, count: 1))
  }

  /// The entities of the new objects, with the number of objects.
  var counts: [(entity: EntityIndex, count: Int)] {
    var counts = [Int64](repeating: 0, count: last.count)
    for run in runs { counts[run.index] += run.count }
    return counts.enumerated().compactMap { $1 == 0 ? nil : ($0, Int($1)) }
  }

  /// Assigns keys to all new objects: `reserve` is called once for each entity, with the number of its new objects.
  mutating func assign(_ reserve: (EntityIndex, Int) throws -> (store: StoreNumber, key: Int64)) rethrows {
    var next = [(store: StoreNumber, key: Int64)](repeating: (StoreNumber(rawValue: 0), 0), count: last.count)
    for (entity, count) in counts { next[entity] = try reserve(entity, count) }
    for index in runs.indices {
      let entity = runs[index].index
      (runs[index].store, runs[index].key) = next[entity]
      next[entity].key &+= runs[index].count
    }
    runs.sort { $0.start < $1.start }
  }

  /// The permanent ID for a temporary one; nil for other IDs.
  subscript(id: ManagedObjectID) -> ManagedObjectID? {
    guard id.isTemporaryID else { return nil }
    // The last run that begins at or before the key.
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].start <= id.key { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return nil }
    let run = runs[low - 1]
    let offset = id.key - run.start
    return offset < run.count ? ManagedObjectID(store: run.store, entity: run.entity, key: run.key + offset) : nil
  }

  /// The IDs of some stores.
  func filter(_ isIncluded: (UInt32) -> Bool) -> PermanentIDs {
    var result = self
    result.runs = runs.filter { isIncluded($0.store.rawValue) }
    return result
  }
}
