import MoonbaseModel

/// The owners further down a key path for which the windows of a walk have already read destinations. Many objects may
/// share such an owner, so each window would read its destinations again.
///
/// The row cache may have dropped these rows since. So the owners are forgotten from time to time and read again, at a
/// bounded cost for each object of the walk.
///
/// Belongs to the walk, and is passed to `Prefetch` for each window.
struct PrefetchMemory {
  /// The number of rows that the row cache still mostly holds.
  private static let capacity = RowCache.usualCapacity
  /// The number of owners beyond which all are forgotten.
  private static let greatestCount = 1 << 16
  /// The average number of rows that may be read for each object of the walk.
  private static let share = 8

  /// The IDs of owners by key path.
  private var known: [String: Set<ManagedObjectID>] = [:]
  /// The number of owners in `known`.
  private var count = 0
  /// The number of owners and destinations read since owners were last forgotten, and in all. The work of the current
  /// period.
  private var work = 0
  /// The work of the whole walk.
  private var wholeWork = 0
  /// The number of objects of the walk so far.
  private var walked = 0
  /// The context's read-ahead number when they were read.
  private var number = 0

  /// Begins a window of `count` objects. Forgets the owners if their rows may be gone from the row cache, as far as the
  /// cost is bounded. `number` is the context's read-ahead number.
  mutating func begin(_ count: Int, number: Int) {
    walked += count
    let isAffordable = wholeWork <= Self.share * walked + Self.capacity
    let isOutdated = work > Self.capacity || number != self.number
    guard isOutdated && isAffordable || self.count > Self.greatestCount else { return }
    (known, self.count, work, self.number) = ([:], 0, 0, number)
  }

  /// The owners that have not been read yet. The owners count as read from now on.
  mutating func new(_ owners: [ManagedObject], along path: String) -> [ManagedObject] {
    let new = owners.filter { known[path, default: []].insert($0.objectID).inserted }
    count += new.count
    return new
  }

  /// Adds owners and destinations that were read.
  mutating func noteWork(_ units: Int) {
    work += units
    wholeWork += units
  }
}
