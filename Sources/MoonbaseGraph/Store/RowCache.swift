import MoonbaseModel
import MoonbasePlatform
import OrderedCollections
import Synchronization

/// Rows that were read one by one, shared by all contexts.
///
/// Bounded: two generations of at most `capacity` rows and `greatestWeight` bytes; a row that is used moves to the young one,
/// the old one is dropped when the young one is full. A row never goes back to an older version, and what was taken out is not
/// brought back by who read it before. Nothing depends on a row being here: contexts keep the snapshots of their objects, and
/// saves compare versions with the store.
final class RowCache: Sendable {
  private struct Contents {
    var young = IDMap<Snapshot>()
    var old = IDMap<Snapshot>()
    /// What came to the young one: pages, for a row keeps the whole page that it is in.
    var weight = 0
    /// What came to the old one.
    var oldWeight = 0
    var lastPage: ObjectIdentifier?
    /// Whether some of it was read for a script whose memory has a limit.
    var isBounded = false
    /// How many readers are on their way.
    var readers = 0
    /// What was written while they are: the versions they must have at least; none suffices of what was taken out.
    var written: [ManagedObjectID: Int64] = [:]
    /// Whether that may be any row.
    var isAnyWritten = false
    /// How many saves are being committed.
    var commits = 0
  }

  /// Of the memory of a script that reads, both generations together take a quarter.
  private var greatestWeight: Int { min(32 << 20, HostWork.greatestValue / 4) / share }
  private static let outdated = Int64.max

  private let capacity: Int
  private let share: Int
  private let contents = Lock(Contents())

  /// The rows of a generation.
  static let usualCapacity = 16_384

  /// `share` is a divisor of the weight.
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
  /// What came to all of them since they were last weighed together.
  private static let grown = Atomic(0)

  /// A script may open many stores, and keep many views: what all caches keep for scripts is to be a quarter of its memory as well. The
  /// others of scripts give theirs up, the oldest first, for who reads now.
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

  /// The bytes of the pages that are kept.
  var weight: Int { contents.withLock { $0.weight + $0.oldWeight } }

  /// The same of a cache that scripts read into; others are none of their business.
  private var boundedWeight: Int { contents.withLock { $0.isBounded ? $0.weight + $0.oldWeight : 0 } }

  // MARK: Rows

  subscript(id: ManagedObjectID) -> Snapshot? {
    defer { balance() }
    return contents.withLock { row(of: id, in: &$0) }
  }

  private func row(of id: ManagedObjectID, in cache: inout Contents) -> Snapshot? {
    if let found = cache.young[id] { return found }
    guard let found = cache.old[id] else { return nil }
    put(found, in: &cache)
    return found
  }

  /// A row of which nobody wrote another version since readers are on their way: it is of the state that they read. While a save is being
  /// committed no row is: this may be older than what the store has by now, and newer, where somebody has read that, than what they read.
  func unwritten(_ id: ManagedObjectID) -> Snapshot? {
    defer { balance() }
    return contents.withLock { cache in
      cache.commits > 0 || cache.isAnyWritten || cache.written[id] != nil ? nil : row(of: id, in: &cache)
    }
  }

  /// A save is about to be committed, and will be `write`'s or given up before `endCommit`.
  func beginCommit() { contents.withLock { $0.commits += 1 } }

  func endCommit() { contents.withLock { $0.commits -= 1 } }

  /// Reads rows and takes them in, but for those that were written or taken out meanwhile.
  func reading(_ body: () throws -> [Snapshot]) rethrows -> [Snapshot] {
    enter()
    defer { leave() }
    let rows = try body()
    take(rows)
    return rows
  }

  /// Somebody begins to read: from now on it is noted what is written.
  func enter() { contents.withLock { $0.readers += 1 } }

  func leave() {
    contents.withLock { cache in
      cache.readers -= 1
      guard cache.readers == 0 else { return }
      cache.isAnyWritten = false
      if !cache.written.isEmpty { cache.written = [:] }
    }
  }

  /// Takes in what was read since `enter`, but for what was written or taken out meanwhile.
  func take(_ rows: [Snapshot]) {
    contents.withLock { cache in
      if cache.isAnyWritten { return }
      for row in rows where row.version >= cache.written[row.id] ?? .min { put(row, in: &cache) }
    }
    balance()
  }

  /// Rows were saved: readers on their way bring no older ones.
  func write(_ rows: RowBatch) {
    contents.withLock { cache in
      guard cache.readers > 0 else { return }
      for row in rows { cache.written[row.id] = max(row.version, cache.written[row.id] ?? .min) }
    }
    replace(rows)
  }

  /// Takes newer versions of rows that are here; others stay out.
  func replace(_ rows: some Collection<Snapshot> & Sendable) {
    guard !rows.isEmpty else { return }
    contents.withLock { cache in
      if cache.young.count + cache.old.count == 0 { return }
      let known = rows.filter { row in
        (cache.young[row.id] ?? cache.old[row.id]).map { $0.version < row.version } ?? false
      }
      // A few of many do not keep the pages of all.
      for row in 8 * known.count < rows.count ? Snapshot.copies(of: known) : known { put(row, in: &cache) }
    }
  }

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

  /// Any row may have been written: all go, and readers on their way bring none.
  func outdateAll() {
    contents.withLock { $0.isAnyWritten = $0.readers > 0 }
    removeAll()
  }

  func removeAll() {
    contents.withLock { cache in
      (cache.young, cache.old) = (IDMap(), IDMap())
      (cache.weight, cache.oldWeight, cache.lastPage, cache.isBounded) = (0, 0, nil, false)
    }
  }

  private func put(_ row: Snapshot, in cache: inout Contents) {
    guard capacity > 0 else { return }
    let known = cache.young[row.id] ?? cache.old[row.id]
    let newest = known.map { $0.version > row.version ? $0 : row } ?? row
    let page = ObjectIdentifier(newest.page)
    if cache.lastPage != page {
      // What would push all else out is not kept.
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
