import MoonbaseModel
import MoonbasePlatform

/// IDs of rows that will be needed, more than the row cache holds: the first fault of a group reads the rows of the
/// whole group.
struct DeferredRows {
  private let ids: IDList
  /// The group of each ID.
  private var stretches = IDMap<Int32>()
  /// For each group, whether it has not been read yet.
  private var isWanted: [Bool]

  /// The bytes of an ID.
  private static let idWeight = 72

  init(_ ids: IDList) {
    self.ids = ids
    isWanted = Array(repeating: true, count: (ids.count + [Snapshot].batchSize - 1) / [Snapshot].batchSize)
    stretches.reserveCapacity(ids.count)
    for (index, id) in ids.enumerated() { stretches[id] = Int32(index / [Snapshot].batchSize) }
  }

  var weight: Int { Self.idWeight * ids.count }

  /// The IDs of an ID's group, once. Rows of the group that the row cache drops later are read one by one.
  mutating func remove(around id: ManagedObjectID) -> [ManagedObjectID]? {
    guard let stretch = stretches[id].map(Int.init), isWanted[stretch] else { return nil }
    isWanted[stretch] = false
    let start = stretch * [Snapshot].batchSize
    return Array(ids[start..<min(start + [Snapshot].batchSize, ids.count)])
  }
}
