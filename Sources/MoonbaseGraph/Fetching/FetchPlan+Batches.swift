import MoonbaseModel
import MoonbasePlatform

/// Fetch results in batches. Each function returns a closure that returns the next batch, or nil at the end.
extension FetchPlan {
  /// The objects of saved rows, without limit and offset. They are retained only by the caller, unless the context has
  /// to sort them. Rows are read in pages of `RowPage.capacity`. Changed objects are not included.
  func batches() throws -> () throws -> [ManagedObject]? {
    try reading {
      if let (store, found) = storeQuery {
        var query = found
        (query.limit, query.offset) = (0, 0)
        let next = try rowPages(of: store, query)
        return { try reading { try next().map { try context.objects(for: $0) } } }
      }
      if sort != nil {
        let twins = CommittedCopies(of: context)
        return Self.batches(of: try sorted(matching(twins), twins: twins))
      }
      var next = try parts.map { part in
        let query = part.plan.query.withoutWindow
        return (plan: part.plan, pages: try rowPages(of: part.store, query))
      }
      return {
        try reading {
          while let (plan, pages) = next.first {
            guard let rows = try pages() else {
              next.removeFirst()
              continue
            }
            let objects = try context.objects(for: rows)
            return try plan.isExact ? objects : objects.filter(judged)
          }
          return nil
        }
      }
    }
  }

  /// Whether an object of a store that evaluates only a part of the condition matches.
  private func judged(_ object: ManagedObject) throws -> Bool {
    try HostWork.charge()
    return try matches(object)
  }

  /// Whether the store computes the columns.
  var givesColumns: Bool { storeQuery?.1.columns != nil }

  /// The columns' values, one row for each object or group. `limit` is the greatest number of rows; 0 means all. Rows
  /// come from a single store.
  func rowsOfValues(limit: Int) throws -> () throws -> RowBatch? {
    guard let (store, found) = storeQuery else { return { nil } }
    var query = found
    (query.limit, query.offset) = (limit, 0)
    return try pages(of: store) { try $0.values(matching: query) }
  }

  /// The IDs of the objects that match. Unsaved changes are included. Without a view all IDs are read at once.
  func idBatches() throws -> () throws -> [ManagedObjectID]? {
    guard let (store, query) = storeQuery, !hasPending else { return Self.batches(of: try reading { try objectIDs() }) }
    let session = try view.session(of: store)
    guard view.canBeHeldOpen else { return Self.batches(of: Array(try session.objectIDs(matching: query))) }
    let ids = try session.ids(matching: query)
    return {
      let page = try withExtendedLifetime(view) { try ids.next(upTo: [ManagedObjectID].batchSize) }
      return page.isEmpty ? nil : Array(page)
    }
  }

  /// The pages of the matching rows. If no consistent view can be held open and there is more than one page, only the
  /// keys are read now. Their rows are read later, in the state of that time and without rows that were deleted
  /// meanwhile. Throws errors of the store.
  private func rowPages(of store: any PersistentStore, _ query: StoreQuery) throws -> () throws -> RowBatch? {
    let session = try view.session(of: store)
    guard readsByKeys else { return try pages(of: store) { try $0.rows(matching: query) } }
    if let rows = try onlyPage(of: query, in: session) {
      var left = rows.isEmpty ? nil : RowBatch(rows)
      return {
        defer { left = nil }
        return left
      }
    }
    let ids = try session.objectIDs(matching: query)
    var position = 0
    return {
      while position < ids.count {
        let page = Array(ids[position..<min(ids.count, position + RowPage.capacity)])
        position += page.count
        let found = Dictionary(try store.snapshots(of: page).map { ($0.id, $0) }) { row, _ in row }
        if !found.isEmpty { return RowBatch(page.compactMap { found[$0] }) }
      }
      return nil
    }
  }

  /// Whether a walk reads rows by key, because no view can be held open for it and the stores keep data in files.
  var readsByKeys: Bool { isKept && !view.canBeHeldOpen && context.parent == nil }

  /// The matching rows, if they fit in one page, which is then consistent. Nil if there are more rows, or if they are
  /// too large. A single statement is always consistent.
  func onlyPage(of query: StoreQuery, in session: any ReadSession) throws -> [Snapshot]? {
    let isShort = query.limit > 0 && query.limit <= RowPage.capacity
    var first = query
    if !isShort { first.limit = RowPage.capacity + 1 }
    let rows =
      if let session = session as? any WeighingReadSession {
        try session.snapshots(matching: first, lighterThan: FetchedObjects.greatestWeight)
      } else {
        try session.snapshots(matching: first)
      }
    guard let rows, isShort || rows.count < first.limit else { return nil }
    return rows
  }

  /// The pages of a cursor. If the store keeps no state for reading, all pages are read at once when another save could
  /// interfere. The next pages may be read on another thread, unless the query calls functions of scripts.
  private func pages(
    of store: any PersistentStore, _ cursor: (any ReadSession) throws -> any RowCursor
  ) throws -> () throws -> RowBatch? {
    let session = try view.session(of: store)
    let mayReadAhead = parts.allSatisfy { $0.plan.query.runsNoFunctions }
    let pages = PageReader(try cursor(session), mayReadAhead: mayReadAhead)
    func next() throws -> RowBatch? {
      let rows = try withExtendedLifetime(view) { try pages.next(upTo: RowPage.capacity) }
      return rows.isEmpty ? nil : rows
    }
    guard isKept, !view.canBeHeldOpen else { return next }
    var all: [RowBatch] = []
    while let rows = try next() { all.append(rows) }
    all.reverse()
    return { all.popLast() }
  }

  /// Returns the elements in batches, releasing each batch. The order is kept.
  private static func batches<Element>(of elements: consuming [Element]) -> () throws -> [Element]? {
    var rest = elements
    rest.reverse()
    return {
      if rest.isEmpty { return nil }
      let batch = Array(rest.suffix([Element].batchSize).reversed())
      rest.removeLast(batch.count)
      return batch
    }
  }
}
