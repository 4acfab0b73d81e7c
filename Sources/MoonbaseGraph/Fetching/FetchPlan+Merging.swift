import MoonbaseModel
import MoonbasePlatform

/// Merging sorted saved rows with unsaved changes.
extension FetchPlan {
  /// The saved IDs in the store's order, with matching changed objects inserted at their places; without limit and
  /// offset. Binary search finds the places, so only some of the saved rows are read.
  ///
  /// Nil if the result is not sorted, if so many rows would be read that sorting all is better, or if a row was deleted
  /// meanwhile. Both lists are sorted by the same order. `twins` gives saved values of objects with changes.
  func merged(
    _ pending: [ManagedObject], with query: StoreQuery, of store: any PersistentStore, twins: CommittedCopies
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

  /// Whether the window is so small that a single statement reads all its rows.
  private var hasSmallWindow: Bool { windowEnd <= 2 * [Snapshot].batchSize }
}

/// The sort ranks of saved rows, each read on demand.
///
/// Binary search reads about log2(n) ranks for each changed object.
private struct SavedRanks {
  /// The saved IDs in order.
  let ids: [ManagedObjectID]
  /// The fetch, with its view.
  let plan: FetchPlan
  /// The order.
  let sort: CompiledSort
  /// Copies for objects with other values.
  let twins: CommittedCopies
  /// The ranks that were read.
  private var known: [Int: CompiledSort.Rank] = [:]

  /// Nothing is read yet.
  init(ids: [ManagedObjectID], plan: FetchPlan, sort: CompiledSort, twins: CommittedCopies) {
    (self.ids, self.plan, self.sort, self.twins) = (ids, plan, sort, twins)
  }

  /// The first place whose row sorts after a rank; nil if a row was deleted meanwhile. Places before `start` are not
  /// searched.
  mutating func firstPlace(after rank: CompiledSort.Rank, from start: Int) throws -> Int? {
    var (low, high) = (start, ids.count)
    while low < high {
      let middle = (low + high) / 2
      guard let other = try self.rank(middle) else { return nil }
      if try sort.order(other, rank) == .descending { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The rank of the row at a place; nil if the row was deleted. Reads the row if necessary.
  private mutating func rank(_ place: Int) throws -> CompiledSort.Rank? {
    if let rank = known[place] { return rank }
    guard let row = try plan.view.currentSnapshot(of: ids[place]) else { return nil }
    let object = try twins.judged(plan.context.object(for: row), by: row)
    let rank = try sort.rank(of: object, memo: plan.memo)
    known[place] = rank
    return rank
  }
}
