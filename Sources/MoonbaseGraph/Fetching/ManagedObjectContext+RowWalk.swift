package import MoonbaseModel
import MoonbasePlatform

extension ManagedObjectContext {
  /// Passes the rows that match a request to `body` in batches without keeping them, for callers that read rows only.
  ///
  /// If the session is consistent, all rows are of one state and `body` may read more of that state, even if the
  /// session cannot be held open beside writers. Otherwise rows are read by the keys found, without rows deleted
  /// meanwhile. Returns false, without calling `body`, if rows do not suffice: with unsaved changes, several stores, or
  /// conditions that the context evaluates.
  package func forEachRowBatch(matching request: FetchRequest, _ body: (RowBatch) throws -> Void) throws -> Bool {
    let plan = try FetchPlan(request, in: self, readsObjects: true)
    guard let (store, query) = plan.storeQuery, !plan.hasPending else { return false }
    try plan.reading {
      let session = try plan.view.session(of: store)
      guard session.isConsistent else { return try forEachRowBatch(of: session, matching: query, body) }
      let pages = PageReader(try session.rows(matching: query), mayReadAhead: query.runsNoFunctions)
      // Before the view ends, which would wait for the thread that reads ahead.
      defer { pages.stop() }
      while case let rows = try pages.next(upTo: RowPage.capacity), !rows.isEmpty { try body(rows) }
    }
    return true
  }

  /// Reads the rows by the keys found, in the order of the keys, for a session that has no single state.
  private func forEachRowBatch(
    of session: any ReadSession, matching query: StoreQuery, _ body: (RowBatch) throws -> Void
  ) throws {
    let ids = try session.objectIDs(matching: query)
    for start in stride(from: 0, to: ids.count, by: RowPage.capacity) {
      let part = Array(ids[start..<min(ids.count, start + RowPage.capacity)])
      let rows = try session.snapshots(of: part)
      let places = Dictionary(zip(part, part.indices)) { first, _ in first }
      try body(RowBatch(rows.sorted { places[$0.id] ?? 0 < places[$1.id] ?? 0 }))
    }
  }
}
