import MoonbaseModel
import MoonbasePlatform

/// Sorted results beside unsaved changes.
extension FetchPlan {
  /// The saved IDs in the store's order with the changed objects that match in their places; without a window. Of the saved ones only
  /// those are read that show where a changed one belongs, by halves.
  ///
  /// Nil where nothing is sorted, where so much would have to be read that it is better to sort all, and where a row went meanwhile.
  func merged(
    _ pending: [ManagedObject], with query: StoreQuery, of store: any PersistentStore, twins: SavedTwins
  ) throws -> [ManagedObjectID]? {
    guard let sort, !pending.isEmpty, !request.shouldRefreshRefetchedObjects, !hasSmallWindow else { return nil }
    let saved = try unchangedIDs(query, in: view.session(of: store))
    let readCount = pending.count &* (Int.bitWidth &- saved.count.leadingZeroBitCount)
    guard 8 &* readCount <= saved.count else { return nil }
    var ranks = SavedRanks(ids: saved, plan: self, sort: sort, twins: twins)
    var result: [ManagedObjectID] = []
    result.reserveCapacity(saved.count + pending.count)
    var taken = 0
    for object in try sort.sorted(pending, memo: memo) {
      guard let place = try ranks.firstPlace(after: sort.rank(of: object, memo: memo), from: taken) else { return nil }
      result += saved[taken..<place]
      result.append(object.objectID)
      taken = place
    }
    return result + saved[taken...]
  }

  /// Whether so few rows are asked for that they are read in one statement.
  private var hasSmallWindow: Bool { windowEnd <= 2 * [Snapshot].batchSize }
}

/// The ranks of sorted rows, each read when it is asked for.
private struct SavedRanks {
  let ids: [ManagedObjectID]
  let plan: FetchPlan
  let sort: CompiledSort
  let twins: SavedTwins
  private var known: [Int: CompiledSort.Rank] = [:]

  init(ids: [ManagedObjectID], plan: FetchPlan, sort: CompiledSort, twins: SavedTwins) {
    (self.ids, self.plan, self.sort, self.twins) = (ids, plan, sort, twins)
  }

  /// The first place whose row comes after a rank; nil where a row is gone.
  mutating func firstPlace(after rank: CompiledSort.Rank, from start: Int) throws -> Int? {
    var (low, high) = (start, ids.count)
    while low < high {
      let middle = (low + high) / 2
      guard let other = try self.rank(middle) else { return nil }
      if try sort.order(other, rank) == .descending { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private mutating func rank(_ place: Int) throws -> CompiledSort.Rank? {
    if let rank = known[place] { return rank }
    guard let row = try plan.view.currentSnapshot(of: ids[place]) else { return nil }
    let object = try twins.judged(plan.context.object(for: row), by: row)
    let rank = try sort.rank(of: object, memo: plan.memo)
    known[place] = rank
    return rank
  }
}
