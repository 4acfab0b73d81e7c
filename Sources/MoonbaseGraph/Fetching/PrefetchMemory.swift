import MoonbaseModel

/// For which owners further down a path the windows of a walk have read already: many objects share them, and each window would read
/// all that they lead to again.
///
/// What was read may be gone from the row cache since. So they are forgotten from time to time and read again, as often as costs no
/// more for each object of the walk than some others.
struct PrefetchMemory {
  /// So much of what was read is mostly still here.
  private static let capacity = RowCache.usualCapacity
  private static let greatestCount = 1 << 16
  /// What may be read for an object of the walk, on the average.
  private static let share = 8

  private var known: [String: Set<ManagedObjectID>] = [:]
  private var count = 0
  /// The owners and destinations that were read, since some were forgotten and altogether.
  private var work = 0
  private var wholeWork = 0
  private var walked = 0
  /// The number of the context's read-ahead when these were read.
  private var number = 0

  /// Another window comes.
  mutating func begin(_ count: Int, number: Int) {
    walked += count
    let isAffordable = wholeWork <= Self.share * walked + Self.capacity
    let isOutdated = work > Self.capacity || number != self.number
    guard isOutdated && isAffordable || self.count > Self.greatestCount else { return }
    (known, self.count, work, self.number) = ([:], 0, 0, number)
  }

  /// Those owners that are not known yet.
  mutating func new(_ owners: [ManagedObject], along path: String) -> [ManagedObject] {
    let new = owners.filter { known[path, default: []].insert($0.objectID).inserted }
    count += new.count
    return new
  }

  mutating func noteWork(_ units: Int) {
    work += units
    wholeWork += units
  }
}
