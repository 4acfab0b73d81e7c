import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// A session for reading: a connection of the pool, held for the time of a call or, in a view, until the session ends.
///
/// The connection of a view is in a transaction. A single call needs no transaction: a running statement reads a
/// consistent state, and a cursor's statement keeps its connection. A file without a log is never read for longer than
/// a call, so a cursor reads all of its rows at once.
///
/// Made by `SQLiteStore` for each read of the graph. Thread-safe: `turn` serializes the calls of a view. A session that
/// has ended throws `.invalidRequest`.
final class SQLiteReadSession: WeighingReadSession, @unchecked Sendable {  // changed only while `turn` is held
  /// The store, whose pool lends the connection.
  let store: SQLiteStore
  /// Whether all reads see one state of the file.
  let isView: Bool
  /// Held during each use of `kept`.
  let turn = Lock(())
  /// The connection that the session keeps.
  var kept: Session?
  /// The statements of cursors, each of which holds the connection's state while it runs.
  var running: [ObjectIdentifier: Statement] = [:]
  /// Set by `end`.
  private var isOver = false

  /// The bytes of an ID in a list that grows.
  private static let idWeight = 24

  /// A view takes its connection at once, and thereby fixes its state. Without a free connection it reads like a single
  /// call.
  init(_ store: SQLiteStore, _ extent: ReadScope) throws {
    self.store = store
    isView = extent == .view
    if isView { kept = try store.lend(isView: true, to: self) }
  }

  deinit { end() }

  /// False for a connection that may change nothing on disk: it must not block a connection that is opened for writing.
  var canBeHeldOpen: Bool { turn.withLock { _ in isView && kept.map { $0.ground == nil } ?? false } }

  /// A view is consistent while it keeps a connection, which is in a transaction.
  var isConsistent: Bool { turn.withLock { _ in isView && kept != nil } }

  /// May be called repeatedly. Statements of open cursors are reset.
  func end() {
    turn.withLock { _ in
      isOver = true
      for statement in running.values { statement.reset() }
      running = [:]
      if let kept { store.readers.giveBack(kept, isView: isView) }
      kept = nil
    }
  }

  // MARK: Connections

  /// Reads with the connection of the view, or with a connection of the pool (`SQLiteStore.read`). `looksAtFile` checks
  /// whether the file is still in its place.
  private func read<Result: Sendable>(
    looksAtFile: Bool = false, _ body: (Session) throws -> Result
  ) throws -> Result {
    guard isView else { return try store.read(looksAtFile: looksAtFile, body) }
    // Another thread may hold the lock while it reads a page.
    return try turn.withLockInTime { _ in
      try checkGoesOn()
      guard let kept else { return try store.read(looksAtFile: looksAtFile, body) }
      do { return try body(kept) } catch { throw store.explained(error) }
    }
  }

  /// Throws `.invalidRequest` if the session or the store was closed.
  func checkGoesOn() throws {
    if store.closing.isClosed { throw store.closedError }
    if isOver { throw GraphError(.invalidRequest, message: "a session that has ended was asked to read") }
  }

  // MARK: Queries

  /// Reads all rows.
  func snapshots(matching query: StoreQuery) throws -> [Snapshot] {
    try snapshots(matching: query, lighterThan: .max) ?? []
  }

  /// Nil as soon as the rows weigh more than `weight` bytes; the caller then uses a cursor.
  func snapshots(matching query: StoreQuery, lighterThan weight: Int) throws -> [Snapshot]? {
    let select = try store.select(query)
    return try read(looksAtFile: true) { session in
      try session.running(select.rows(query), for: query) { statement in
        let rows = RowCollector(store: store.number)
        let mayHaveMore = try select.plan.collect(statement, into: rows, weight: weight)
        return mayHaveMore ? nil : Array(rows.finish())
      }
    }
  }

  /// The rows of a statement with these bound values. For statements that are no queries, such as those of conflicts.
  func snapshots(_ sql: String, with values: [Value], _ plan: RowPlan) throws -> [Snapshot] {
    try read(looksAtFile: !isView) { session in
      let statement = try session.connection.statement(sql)
      defer { statement.reset() }
      for (index, value) in values.enumerated() { SQLValue.bind(value, at: Int32(index + 1), to: statement) }
      let rows = RowCollector(store: store.number)
      _ = try plan.collect(statement, into: rows)
      return Array(rows.finish())
    }
  }

  /// A cursor where the file may be read for long, otherwise a list of all rows.
  func rows(matching query: StoreQuery) throws -> any RowCursor {
    let select = try store.select(query)
    let cursor = try begin { SQLiteRowCursor(query, select.rows(query), select.plan, self) }
    // A reader of a file without a log blocks writers, and for some files only the end of the read shows whether the
    // file was written meanwhile. Therefore all rows are read first.
    return try cursor ?? RowList(snapshots(matching: query))
  }

  /// Like `rows(matching:)`, without the values.
  func ids(matching query: StoreQuery) throws -> any IDCursor {
    let select = try store.select(query)
    if let cursor = try begin({ SQLiteIDCursor(query, select.keys(query), select.plan, self) }) { return cursor }
    let all = try read(looksAtFile: true) { session in
      try session.running(select.keys(query), for: query) { try Self.rest(of: $0, plan: select.plan) }
    }
    return IDListCursor(all)
  }

  /// For queries with `columns`.
  func values(matching query: StoreQuery) throws -> any RowCursor {
    let select = try store.select(query)
    let reader = ValueReader(select, query: query, in: store)
    let cursor = try begin { SQLiteValueCursor(query, select.values(query), select.plan, self, reader: reader) }
    if let cursor { return cursor }
    let all = try read(looksAtFile: true) { session in
      try session.running(select.values(query), for: query) { statement in
        let rows = RowCollector(store: store.number)
        _ = try reader.collect(statement, into: rows)
        return Array(rows.finish())
      }
    }
    return RowList(all)
  }

  /// Makes a cursor, if a connection may be held for longer than a call.
  private func begin<Cursor>(_ make: () -> Cursor) throws -> Cursor? {
    try turn.withLock { _ in
      try checkGoesOn()
      if kept == nil, !isView { kept = try store.lend(isView: false, to: self) }
      return kept == nil ? nil : make()
    }
  }

  /// In SQL, unless the query has a limit or an offset.
  func count(matching query: StoreQuery) throws -> Int {
    if query.limit > 0 || query.offset > 0 { return try objectIDs(matching: query).count }
    var unsorted = query
    unsorted.sortDescriptors = []
    let select = try store.select(unsorted)
    return try read(looksAtFile: true) { session in
      try session.running(select.count(unsorted), for: unsorted) { try $0.step() ? Int($0.integer(0)) : 0 }
    }
  }

  /// Reads pages of IDs until the end. Throws at the limits of a script.
  static func rest(of statement: Statement, plan: RowPlan) throws -> IDList {
    var result = IDList()
    var memory = HostMemory()
    while true {
      let (ids, mayGoOn) = try plan.collectIDs(statement, upTo: IDList.pageSize)
      // A growing list may reserve twice the memory of its elements.
      try memory.hold(2 * ids.weight)
      result.append(contentsOf: ids)
      if !mayGoOn { return result }
    }
  }

  // MARK: By key

  /// Nil for an object of another store, and for a deleted one.
  func snapshot(of id: ManagedObjectID) throws -> Snapshot? {
    guard id.storeNumber == store.number.rawValue, let entity = store.layout.model.entity(of: id) else { return nil }
    let plan = try store.rowPlan(entity, includesSubentities: false)
    return try read { session in
      if let row = try plan.snapshot(of: id.key, in: session) { return row }
      // A row of an unknown entity is not of the requested entity.
      guard plan.select.entityCondition != nil else { return nil }
      let row = try store.tablePlan(entity).snapshot(of: id.key, in: session)
      return row?.id == id ? row : nil
    }
  }

  /// Missing rows are left out.
  func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot] {
    try read { try store.snapshots(of: ids, in: $0) }
  }

  // MARK: Destinations

  /// In the order of the relationship.
  func destinations(of id: ManagedObjectID, relationship slot: Slot) throws -> [ManagedObjectID] {
    try destinations(of: [id], relationship: slot)[0]
  }

  /// The result has a list for each of `ids`, which are of one entity. The keys are divided into chunks, so that few
  /// statements are prepared.
  func destinations(of ids: [ManagedObjectID], relationship slot: Slot) throws -> [[ManagedObjectID]] {
    let none = [[ManagedObjectID]](repeating: [], count: ids.count)
    guard let first = ids.first else { return none }
    let entity = try store.layout.layout(of: first)
    guard let query = try DestinationQuery(slot, of: entity, layout: store.layout, dialect: .sqlite) else {
      return none
    }
    let plan = try store.rowPlan(query.entity, includesSubentities: true)
    let places = Dictionary(ids.enumerated().map { ($1.key, $0) }) { first, _ in first }
    return try read { session in
      var result = none
      var memory = HostMemory()
      for start in stride(from: 0, to: ids.count, by: SQLiteStore.chunk) {
        let keys = ids[start..<min(start + SQLiteStore.chunk, ids.count)].map(\.key)
        let statement = try session.connection.statement(query.select(keyCount: keys.count.roundedUpToPowerOfTwo))
        for (index, key) in keys.enumerated() { statement.bind(key, at: Int32(index + 1)) }
        defer { statement.reset() }
        while try statement.step() {
          try HostWork.charge()
          guard let place = places[statement.integer(2)] else { continue }
          result[place].append(try plan.id(statement))
          try memory.hold(Self.idWeight)
        }
      }
      return result
    }
  }
}

/// Destinations with their rows, for prefetching.
extension SQLiteReadSession {
  /// Like `destinations(of:relationship:)`, with the rows of the destinations. The ranges refer to the batch of all
  /// rows.
  func destinationRows(of ids: [ManagedObjectID], relationship slot: Slot) throws -> DestinationRows {
    guard let first = ids.first else { return DestinationRows() }
    let none = [Range<Int>](repeating: 0..<0, count: ids.count)
    let entity = try store.layout.layout(of: first)
    guard let query = try DestinationQuery(slot, of: entity, layout: store.layout, dialect: .sqlite) else {
      return DestinationRows(RowBatch(), ranges: none)
    }
    let plan = try store.rowPlan(query.entity, includesSubentities: true)
    let ownerColumn = Int32(query.ownerColumn(among: plan.select.columns))
    let places = Dictionary(ids.enumerated().map { ($1.key, $0) }) { first, _ in first }
    return try read { session in
      let rows = RowCollector(store: store.number, expecting: ids.count)
      var ranges = none
      for start in stride(from: 0, to: ids.count, by: SQLiteStore.chunk) {
        let keys = ids[start..<min(start + SQLiteStore.chunk, ids.count)].map(\.key)
        let statement = try session.connection.statement(
          query.select(plan.select.columns, keyCount: keys.count.roundedUpToPowerOfTwo))
        for (index, key) in keys.enumerated() { statement.bind(key, at: Int32(index + 1)) }
        defer { statement.reset() }
        // Destinations of the same owner are adjacent.
        var last: (key: Int64, place: Int?, start: Int)?
        var count = rows.count
        _ = try plan.collect(statement, into: rows) { row in
          let key = row.integer(ownerColumn)
          if last?.key != key {
            if let last, let place = last.place { ranges[place] = last.start..<count }
            last = (key, places[key], count)
          }
          guard last?.place != nil else { return false }
          count &+= 1
          return true
        }
        if let last, let place = last.place { ranges[place] = last.start..<count }
      }
      return DestinationRows(rows.finish(), ranges: ranges)
    }
  }
}

extension SQLiteReadSession: ReadingBorrower {}
