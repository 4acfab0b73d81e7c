import MoonbaseModel
import MoonbasePlatform

/// What a fetch finds, some at a time, as it is asked for: each of these returns what returns the next ones, and nil at the end.
extension FetchPlan {
  /// The objects of the saved rows, without a window. Nobody else holds them, unless they have to be sorted here.
  func batches() throws -> () throws -> [ManagedObject]? {
    try reading {
      if let (store, found) = storeQuery {
        var query = found
        (query.limit, query.offset) = (0, 0)
        let next = try rowPages(of: store, query)
        return { try reading { try next().map { try context.objects(for: $0) } } }
      }
      if sort != nil {
        let twins = SavedTwins(of: context)
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

  private func judged(_ object: ManagedObject) throws -> Bool {
    try HostWork.charge()
    return try matches(object)
  }

  /// Whether the store computes the columns.
  var givesColumns: Bool { storeQuery?.1.columns != nil }

  /// The values of the columns, a row for each object or group. `limit` bounds the rows, from the first on.
  func rowsOfValues(limit: Int) throws -> () throws -> RowBatch? {
    guard let (store, found) = storeQuery else { return { nil } }
    var query = found
    (query.limit, query.offset) = (limit, 0)
    return try pages(of: store) { try $0.values(matching: query) }
  }

  /// The IDs of the objects that match.
  func idBatches() throws -> () throws -> [ManagedObjectID]? {
    guard let (store, query) = storeQuery, !hasPending else { return Self.batches(of: try reading { try objectIDs() }) }
    let session = try view.session(of: store)
    guard view.isSteady else { return Self.batches(of: Array(try session.objectIDs(matching: query))) }
    let ids = try session.ids(matching: query)
    return {
      let page = try withExtendedLifetime(view) { try ids.next(upTo: [ManagedObjectID].batchSize) }
      return page.isEmpty ? nil : Array(page)
    }
  }

  /// The pages of the rows that match. Of a store that keeps no state while it is read, and has more than one page of them, the keys are read now
  /// and the rows as they are asked for, as they are then; those that are gone are left out.
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

  /// Whether the rows of a walk are asked for by their keys: no state can be kept for it, and its stores keep what they have in files.
  var readsByKeys: Bool { isKept && !view.isSteady && context.parent == nil }

  /// The rows that match, if they fit in one page, which is of one state. Nil if there are more, or if they weigh too
  /// much.
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

  /// The pages of a cursor. One of a store that keeps no state while it is read is read at once, where somebody may save meanwhile.
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
    guard isKept, !view.isSteady else { return next }
    var all: [RowBatch] = []
    while let rows = try next() { all.append(rows) }
    all.reverse()
    return { all.popLast() }
  }

  /// Those that were handed out are let go.
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
