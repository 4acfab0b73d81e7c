import MoonbaseModel
import MoonbasePlatform

/// Rows that were read one by one, shared by all contexts.
///
/// Bounded: two generations of at most `capacity` rows; a row that is used moves to the young one, the old one is dropped
/// when the young one is full. Nothing depends on a row being here: contexts keep the snapshots of their objects, and saves
/// compare versions with the store.
final class RowCache: Sendable {
  private struct Generations {
    var young: [ManagedObjectID: Snapshot] = [:]
    var old: [ManagedObjectID: Snapshot] = [:]
  }

  private let capacity: Int
  private let generations = Lock(Generations())

  init(capacity: Int = 16_384) { self.capacity = capacity }

  subscript(id: ManagedObjectID) -> Snapshot? {
    generations.withLock { cache in
      if let found = cache.young[id] { return found }
      guard let found = cache.old[id] else { return nil }
      put(found, in: &cache)
      return found
    }
  }

  func insert(_ snapshots: [Snapshot]) {
    generations.withLock { cache in
      for snapshot in snapshots { put(snapshot, in: &cache) }
    }
  }

  /// Takes newer versions of rows that are here; others stay out.
  func replace(_ snapshots: [Snapshot]) {
    generations.withLock { cache in
      for snapshot in snapshots {
        if let place = cache.young.index(forKey: snapshot.id) {
          cache.young.values[place] = snapshot
        } else if cache.old[snapshot.id] != nil {
          put(snapshot, in: &cache)
        }
      }
    }
  }

  func remove(_ ids: [ManagedObjectID]) {
    generations.withLock { cache in
      for id in ids {
        cache.young[id] = nil
        cache.old[id] = nil
      }
    }
  }

  private func put(_ snapshot: Snapshot, in cache: inout Generations) {
    cache.young[snapshot.id] = snapshot
    if cache.young.count >= capacity {
      cache.old = cache.young
      cache.young = [:]
    }
  }
}
