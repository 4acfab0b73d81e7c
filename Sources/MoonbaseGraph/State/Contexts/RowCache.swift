import MoonbaseModel
import MoonbasePlatform
import OrderedCollections
import Synchronization

/// Rows that were read one by one, shared by all contexts.
///
/// The cache has two generations of at most `capacity` rows and `greatestWeight` bytes. A used row moves to the young
/// generation; when that is full, it becomes the old one and the former old one is dropped. A cached row is never
/// replaced by an older version, and a read in progress never restores a row that was removed meanwhile. Nothing
/// depends on a row being cached: contexts keep the snapshots of their objects, and saves compare versions with the
/// store.
final class RowCache: Sendable {
  private struct Contents {
    var young = IDMap<Snapshot>()
    var old = IDMap<Snapshot>()
    /// The bytes added to the young generation, counted by pages because a row retains its whole page.
    var weight = 0
    /// The bytes added to the old generation.
    var oldWeight = 0
    var lastPage: ObjectIdentifier?
    /// Whether a script with a memory limit read some of the rows.
    var isBounded = false
    /// The number of reads in progress.
    var readers = 0
    /// The rows written during these reads, with the least version that may be cached; no version of a removed row may
    /// be.
    var written: [ManagedObjectID: Int64] = [:]
    /// Whether any row may have been written during these reads.
    var isAnyWritten = false
    /// The number of commits in progress.
    var commits = 0
  }

  /// The byte limit of a generation. For a script with a memory limit, both generations together get a quarter of the
  /// limit.
  private var greatestWeight: Int { min(32 << 20, HostWork.greatestValue / 4) / share }
  private static let outdated = Int64.max

  private let capacity: Int
  private let share: Int
  private let contents = Lock(Contents())

  /// The number of rows in a generation.
  static let usualCapacity = 16_384

  /// Makes a cache; `share` divides the byte limit.
  init(capacity: Int = usualCapacity, share: Int = 1) {
    (self.capacity, self.share) = (capacity, share)
    let reference = WeakCache(cache: self)
    Self.all.withLock { $0[ObjectIdentifier(self)] = reference }
  }

  deinit { Self.all.withLock { $0[ObjectIdentifier(self)] = nil } }

  // MARK: All caches of the process

  private struct WeakCache {
    weak var cache: RowCache?
  }

  private static let all = Lock<OrderedDictionary<ObjectIdentifier, WeakCache>>([:])
  /// The bytes added to all caches since the last call of `balance()` that weighed them.
  private static let grown = Atomic(0)

  /// Limits the memory of all caches that scripts read into to a quarter of the script's limit, as a script may open
  /// many stores and views. The other such caches are emptied, the oldest first.
  private func balance() {
    let bound = HostWork.greatestValue
    guard bound < .max, Self.grown.load(ordering: .relaxed) > bound / 32 else { return }
    Self.grown.store(0, ordering: .relaxed)
    let caches = Self.all.withLock { $0.values.compactMap(\.cache) }
    var excess = caches.reduce(0) { $0 + $1.boundedWeight } - bound / 4
    for cache in caches where cache !== self && excess > 0 {
      let weight = cache.boundedWeight
      if weight == 0 { continue }
      excess -= weight
      cache.removeAll()
    }
  }

  /// The bytes of the cached pages.
  var weight: Int { contents.withLock { $0.weight + $0.oldWeight } }

  /// The bytes of the cached pages if scripts read into this cache, otherwise 0.
  private var boundedWeight: Int { contents.withLock { $0.isBounded ? $0.weight + $0.oldWeight : 0 } }

  // MARK: Rows

  subscript(id: ManagedObjectID) -> Snapshot? {
    defer { balance() }
    return contents.withLock { row(of: id, in: &$0) }
  }

  /// A cached row, moved to the young generation.
  private func row(of id: ManagedObjectID, in cache: inout Contents) -> Snapshot? {
    if let found = cache.young[id] { return found }
    guard let found = cache.old[id] else { return nil }
    put(found, in: &cache)
    return found
  }

  /// A cached row that no save has changed since the reads in progress began: it belongs to the state that they read.
  ///
  /// Returns nil while a commit is in progress: the cached row may then be older than the store's, or newer than the
  /// state of these reads.
  func unwritten(_ id: ManagedObjectID) -> Snapshot? {
    defer { balance() }
    return contents.withLock { cache in
      cache.commits > 0 || cache.isAnyWritten || cache.written[id] != nil ? nil : row(of: id, in: &cache)
    }
  }

  /// Begins a commit. Before `endCommit`, either `write(_:)` receives the saved rows or the save fails.
  func beginCommit() { contents.withLock { $0.commits += 1 } }

  func endCommit() { contents.withLock { $0.commits -= 1 } }

  /// Runs `body` and caches the rows that it reads, except rows that are written or removed meanwhile.
  func reading(_ body: () throws -> [Snapshot]) rethrows -> [Snapshot] {
    enter()
    defer { leave() }
    let rows = try body()
    add(rows)
    return rows
  }

  /// Begins a read: from now on, writes are recorded.
  func enter() { contents.withLock { $0.readers += 1 } }

  /// Ends a read.
  func leave() {
    contents.withLock { cache in
      cache.readers -= 1
      guard cache.readers == 0 else { return }
      cache.isAnyWritten = false
      if !cache.written.isEmpty { cache.written = [:] }
    }
  }

  /// Caches rows read since `enter`, except rows that were written or removed meanwhile.
  func add(_ rows: [Snapshot]) {
    contents.withLock { cache in
      if cache.isAnyWritten { return }
      for row in rows where row.version >= cache.written[row.id] ?? .min { put(row, in: &cache) }
    }
    balance()
  }

  /// Updates cached rows after a save, and keeps reads in progress from caching older versions.
  func write(_ rows: RowBatch) {
    contents.withLock { cache in
      guard cache.readers > 0 else { return }
      for row in rows { cache.written[row.id] = max(row.version, cache.written[row.id] ?? .min) }
    }
    replace(rows)
  }

  /// Updates cached rows to newer versions, without adding rows.
  func replace(_ rows: some Collection<Snapshot> & Sendable) {
    guard !rows.isEmpty else { return }
    contents.withLock { cache in
      if cache.young.count + cache.old.count == 0 { return }
      let known = rows.filter { row in
        (cache.young[row.id] ?? cache.old[row.id]).map { $0.version < row.version } ?? false
      }
      // If only a few rows are cached, copies avoid retaining the pages of all others.
      for row in 8 * known.count < rows.count ? Snapshot.copies(of: known) : known { put(row, in: &cache) }
    }
  }

  /// Drops rows, and keeps reads in progress from caching them.
  func remove(_ ids: [ManagedObjectID]) {
    guard !ids.isEmpty else { return }
    contents.withLock { cache in
      for id in ids {
        if cache.readers > 0 { cache.written[id] = Self.outdated }
        cache.young[id] = nil
        cache.old[id] = nil
      }
    }
  }

  /// Drops all rows, as any may have been written, and prevents reads in progress from caching theirs.
  func outdateAll() {
    contents.withLock { $0.isAnyWritten = $0.readers > 0 }
    removeAll()
  }

  /// Drops all rows; reads in progress may still cache theirs.
  func removeAll() {
    contents.withLock { cache in
      (cache.young, cache.old) = (IDMap(), IDMap())
      (cache.weight, cache.oldWeight, cache.lastPage, cache.isBounded) = (0, 0, nil, false)
    }
  }

  /// Caches a row unless a newer version is cached. A full young generation replaces the old one.
  private func put(_ row: Snapshot, in cache: inout Contents) {
    guard capacity > 0 else { return }
    let known = cache.young[row.id] ?? cache.old[row.id]
    let newest = known.map { $0.version > row.version ? $0 : row } ?? row
    let page = ObjectIdentifier(newest.page)
    if cache.lastPage != page {
      // A page that would displace everything else is not cached.
      guard newest.page.weight <= greatestWeight / 2 else {
        (cache.young[row.id], cache.old[row.id]) = (nil, nil)
        return
      }
      cache.weight += newest.page.weight
      if HostWork.greatestValue < .max { cache.isBounded = true }
      Self.grown.add(newest.page.weight, ordering: .relaxed)
    }
    cache.young[row.id] = newest
    cache.lastPage = page
    if cache.young.count >= capacity || cache.weight >= greatestWeight {
      cache.old = cache.young
      cache.young = IDMap()
      (cache.oldWeight, cache.weight, cache.lastPage) = (cache.weight, 0, nil)
    }
  }
}
