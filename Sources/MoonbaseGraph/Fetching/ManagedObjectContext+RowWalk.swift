package import MoonbaseModel
import MoonbasePlatform

extension ManagedObjectContext {
  /// Hands the rows that a request finds to `body`, some at a time, none of which is kept: for who reads a store and nothing else.
  ///
  /// All is of one state, of which `body` may read more, where the store has one to read from; also where that must not be kept beside others who
  /// open the file to write. Otherwise the rows are read by the keys that were found, and those that went since are passed over.
  /// False where rows are not all that it takes: there are unsaved changes, several stores, or what the context has to judge.
  package func forEachRowBatch(matching request: FetchRequest, _ body: (RowBatch) throws -> Void) throws -> Bool {
    let plan = try FetchPlan(request, in: self, readsObjects: true)
    guard let (store, query) = plan.storeQuery, !plan.hasPending else { return false }
    try plan.reading {
      let session = try plan.view.session(of: store)
      guard session.seesOneState else { return try forEachRowBatch(of: session, matching: query, body) }
      let pages = PageReader(try session.rows(matching: query), mayReadAhead: query.runsNoFunctions)
      // Before the view ends, which waits for who reads in it.
      defer { pages.stop() }
      while case let rows = try pages.next(upTo: RowPage.capacity), !rows.isEmpty { try body(rows) }
    }
    return true
  }

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
