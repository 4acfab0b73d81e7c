import MoonbaseModel
import MoonbasePlatform

/// Rows that were read one by one, shared by all contexts.
///
/// Bounded: two generations of at most `capacity` rows and `greatestWeight` bytes; a row that is used moves to the young one,
/// the old one is dropped when the young one is full. A row never goes back to an older version, and what was taken out is not
/// brought back by who read it before. Nothing depends on a row being here: contexts keep the snapshots of their objects, and
/// saves compare versions with the store.
final class RowCache: Sendable {
  private struct Generations {
    var young: [ManagedObjectID: Snapshot] = [:]
    var old: [ManagedObjectID: Snapshot] = [:]
    /// What came to the young one.
    var weight = 0
    var removals: UInt64 = 0
  }

  /// The moment at which a reader began: how often rows had been taken out.
  struct Moment {
    fileprivate let removals: UInt64
  }

  /// Of the memory of a script that reads, both generations together take a quarter.
  private static var greatestWeight: Int { min(32 << 20, HostWork.greatestValue / 4) }

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

  /// To be asked before rows are read that are then inserted.
  var now: Moment { Moment(removals: generations.withLock { $0.removals }) }

  /// Takes rows in, unless rows were taken out since they were read.
  func insert(_ snapshots: [Snapshot], readAt moment: Moment) {
    generations.withLock { cache in
      guard cache.removals == moment.removals else { return }
      for snapshot in snapshots { put(snapshot, in: &cache) }
    }
  }

  /// Takes newer versions of rows that are here; others stay out.
  func replace(_ snapshots: [Snapshot]) {
    generations.withLock { cache in
      for snapshot in snapshots {
        guard let known = cache.young[snapshot.id] ?? cache.old[snapshot.id], known.version < snapshot.version else {
          continue
        }
        put(snapshot, in: &cache)
      }
    }
  }

  func remove(_ ids: [ManagedObjectID]) {
    guard !ids.isEmpty else { return }
    generations.withLock { cache in
      cache.removals += 1
      for id in ids {
        cache.young[id] = nil
        cache.old[id] = nil
      }
    }
  }

  private func put(_ snapshot: Snapshot, in cache: inout Generations) {
    let known = cache.young[snapshot.id] ?? cache.old[snapshot.id]
    let newest = known.map { $0.version > snapshot.version ? $0 : snapshot } ?? snapshot
    cache.young[snapshot.id] = newest
    cache.weight += newest.weight
    if cache.young.count >= capacity || cache.weight >= Self.greatestWeight {
      cache.old = cache.young
      cache.young = [:]
      cache.weight = 0
    }
  }
}
