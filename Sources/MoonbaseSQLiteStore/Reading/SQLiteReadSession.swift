import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// A session that reads: a connection of the pool, for the time of a call or, where it is a view, until it ends.
///
/// The connection of a view is in a transaction. One call needs none: a statement that runs sees one state, and that of a cursor keeps its
/// connection. A file without a log is never read for longer than a call, and a cursor then reads all at once.
final class SQLiteReadSession: ReadSession, @unchecked Sendable {  // what changes is touched only while `turn` is held
  fileprivate let store: SQLiteStore
  private let isView: Bool
  private let turn = Lock(())
  /// The connection that is kept.
  private var kept: Session?
  /// The statements of cursors, which hold the connection's state as long as they run.
  private var running: [ObjectIdentifier: Statement] = [:]
  private var isOver = false

  /// The bytes that an ID takes in a list that grows.
  fileprivate static let idWeight = 24

  init(_ store: SQLiteStore, _ extent: ReadExtent) throws {
    self.store = store
    isView = extent == .view
    if isView { kept = try store.lend(isView: true) }
  }

  deinit { end() }

  /// A connection that may change nothing on the disk must not be in the way of one that is opened for writing.
  var isSteady: Bool { turn.withLock { _ in isView && kept.map { $0.ground == nil } ?? false } }

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

  /// Reads with the connection of the view, or one of the pool. `looksAtFile` finds out first whether the file is still in its place: a
  /// query does, which takes long enough, and a row that is asked for by its key comes from where the query found it.
  fileprivate func read<Result: Sendable>(
    looksAtFile: Bool = false, _ body: (Session) throws -> Result
  ) throws -> Result {
    guard isView else { return try store.read(looksAtFile: looksAtFile, body) }
    return try turn.withLock { _ in
      try checkGoesOn()
      guard let kept else { return try store.read(looksAtFile: looksAtFile, body) }
      do { return try body(kept) } catch { throw store.explained(error) }
    }
  }

  private func checkGoesOn() throws {
    if isOver { throw GraphError(.invalidRequest, message: "a session that has ended was asked to read") }
  }

  // MARK: Queries

  func snapshots(matching query: StoreQuery) throws -> [Snapshot] {
    let (sql, plan) = try select(query)
    return try read(looksAtFile: true) { try all(sql, query: query, plan: plan, session: $0) }
  }

  func rows(matching query: StoreQuery) throws -> any RowCursor {
    let (sql, plan) = try select(query)
    return try turn.withLock { _ in
      try checkGoesOn()
      if kept == nil, !isView { kept = try store.lend(isView: false) }
      if kept != nil { return SQLiteRowCursor(query, sql: sql, plan: plan, session: self) }
      // A reader keeps writers of a file without a log away, and of some files it shows at the end only whether
      // they were written meanwhile: all is read first.
      return RowList(try store.read(looksAtFile: true) { try all(sql, query: query, plan: plan, session: $0) })
    }
  }

  private func select(_ query: StoreQuery) throws -> (SQLFragment, RowPlan) {
    let plan = try store.rowPlan(query.entity, includesSubentities: query.includesSubentities)
    return (try store.select(plan.select.columns, query: query, plan: plan), plan)
  }

  private func all(_ sql: SQLFragment, query: StoreQuery, plan: RowPlan, session: Session) throws -> [Snapshot] {
    let statement = try session.statement(sql, for: query)
    defer { statement.reset() }
    let rows = RowCollector(store: store.number)
    _ = try plan.collect(statement, into: rows)
    return rows.finish()
  }

  func objectIDs(matching query: StoreQuery) throws -> [ManagedObjectID] {
    let plan = try store.rowPlan(query.entity, includesSubentities: query.includesSubentities)
    return try rows(of: query, plan: plan, columns: ["t0.Z_PK", "t0.Z_ENT"]) { try plan.id($0) }
  }

  func count(matching query: StoreQuery) throws -> Int {
    if query.limit > 0 || query.offset > 0 { return try objectIDs(matching: query).count }
    let plan = try store.rowPlan(query.entity, includesSubentities: query.includesSubentities)
    var unsorted = query
    unsorted.sortDescriptors = []
    return try rows(of: unsorted, plan: plan, columns: ["COUNT(*)"]) { Int($0.integer(0)) }.first ?? 0
  }

  private func rows<Element: Sendable>(
    of query: StoreQuery, plan: RowPlan, columns: [String], _ decode: (Statement) throws -> Element
  ) throws -> [Element] {
    let sql = try store.select(columns, query: query, plan: plan)
    return try read(looksAtFile: true) { session in
      let statement = try session.statement(sql, for: query)
      defer { statement.reset() }
      return try Self.rest(of: statement, decode)
    }
  }

  private static func rest<Element>(
    of statement: Statement, _ decode: (Statement) throws -> Element
  ) throws -> [Element] {
    var result: [Element] = []
    var memory = HostMemory()
    while try statement.step() {
      try HostWork.charge()
      result.append(try decode(statement))
      try memory.hold(idWeight)
    }
    return result
  }

  // MARK: By key

  func snapshot(of id: ManagedObjectID) throws -> Snapshot? {
    guard id.storeNumber == store.number.rawValue, let entity = store.layout.model.entity(of: id) else { return nil }
    let plan = try store.rowPlan(entity, includesSubentities: false)
    return try read { session in
      let statement = try session.connection.statement(plan.select.pointSelect)
      statement.bind(id.key, at: 1)
      defer { statement.reset() }
      return try statement.step() ? try plan.snapshot(statement) : nil
    }
  }

  func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot] {
    try read { try store.snapshots(of: ids, in: $0) }
  }

  // MARK: Destinations

  func destinations(of id: ManagedObjectID, relationship slot: Slot) throws -> [ManagedObjectID] {
    try destinations(of: [id], relationship: slot)[0]
  }

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

extension SQLiteReadSession {
  func destinationRows(of ids: [ManagedObjectID], relationship slot: Slot) throws -> DestinationRows {
    guard let first = ids.first else { return DestinationRows() }
    let entity = try store.layout.layout(of: first)
    guard let query = try DestinationQuery(slot, of: entity, layout: store.layout, dialect: .sqlite) else {
      return DestinationRows([], owners: [], count: ids.count)
    }
    let plan = try store.rowPlan(query.entity, includesSubentities: true)
    let ownerColumn = Int32(plan.select.columns.count)
    let places = Dictionary(ids.enumerated().map { ($1.key, Int32($0)) }) { first, _ in first }
    return try read { session in
      let rows = RowCollector(store: store.number)
      var owners: [Int32] = []
      var memory = HostMemory()
      var held = 0
      for start in stride(from: 0, to: ids.count, by: SQLiteStore.chunk) {
        let keys = ids[start..<min(start + SQLiteStore.chunk, ids.count)].map(\.key)
        let statement = try session.connection.statement(
          query.select(plan.select.columns, keyCount: keys.count.roundedUpToPowerOfTwo))
        for (index, key) in keys.enumerated() { statement.bind(key, at: Int32(index + 1)) }
        defer { statement.reset() }
        // Destinations of one owner follow each other.
        var last: (key: Int64, place: Int32)?
        while try statement.step() {
          try HostWork.charge()
          let key = statement.integer(ownerColumn)
          if last?.key != key {
            guard let place = places[key] else { continue }
            last = (key, place)
          }
          guard let place = last?.place else { continue }
          try plan.read(statement, into: rows)
          owners.append(place)
          let weight = rows.weight &+ owners.count &* Self.idWeight
          try memory.hold(weight - held)
          held = weight
        }
      }
      return DestinationRows(rows.finish(), owners: owners, count: ids.count)
    }
  }
}

// MARK: - Cursors

/// The rows of a statement on its way.
private final class SQLiteRowCursor: RowCursor, @unchecked Sendable {  // what changes is touched in the session's turn
  let query: StoreQuery
  let sql: SQLFragment
  let plan: RowPlan
  private let session: SQLiteReadSession
  fileprivate var statement: Statement?
  /// Whether something was handed out.
  fileprivate var hasBegun = false
  fileprivate var isOver = false
  /// Why it cannot go on: it never looks as if it were at its end.
  fileprivate var failure: (any Error)?

  init(_ query: StoreQuery, sql: SQLFragment, plan: RowPlan, session: SQLiteReadSession) {
    (self.query, self.sql, self.plan, self.session) = (query, sql, plan, session)
  }

  deinit { session.forget(self) }

  func next(upTo count: Int) throws -> [Snapshot] { try session.page(of: self, upTo: count) }
  func remainingIDs() throws -> [ManagedObjectID] { try session.remainingIDs(of: self) }
}

extension SQLiteReadSession {
  /// The bytes of the rows that are handed out together.
  private static var greatestPage: Int { min(4 << 20, HostWork.greatestValue / 8) }

  fileprivate func page(of cursor: SQLiteRowCursor, upTo count: Int) throws -> [Snapshot] {
    try advance(cursor) { statement in
      let rows = RowCollector(store: store.number, expecting: cursor.hasBegun ? count : 0)
      cursor.isOver = try !cursor.plan.collect(statement, into: rows, limit: count, weight: Self.greatestPage)
      return rows.finish()
    }
  }

  fileprivate func remainingIDs(of cursor: SQLiteRowCursor) throws -> [ManagedObjectID] {
    try advance(cursor) { statement in
      let ids = try Self.rest(of: statement) { try cursor.plan.id($0) }
      cursor.isOver = true
      return ids
    }
  }

  /// Goes on with the statement of a cursor. As long as nothing was handed out, it begins anew with another connection where tables
  /// were changed.
  private func advance<Element: Sendable>(
    _ cursor: SQLiteRowCursor, _ body: (Statement) throws -> [Element]
  ) throws -> [Element] {
    try turn.withLock { _ in
      for _ in 0..<20 {
        if let failure = cursor.failure { throw failure }
        if cursor.isOver { return [] }
        try checkGoesOn()
        guard let kept else { break }
        let result = Result { try body(try begun(cursor, kept)) }
        if cursor.hasBegun || isView || kept.isSound(store.file) {
          cursor.hasBegun = true
          do {
            let rows = try result.get()
            if cursor.isOver { finish(cursor) }
            return rows
          } catch {
            finish(cursor)
            let failure = store.explained(error)
            cursor.failure = failure
            throw failure
          }
        }
        finish(cursor)
        cursor.isOver = false
        guard running.isEmpty else { break }
        store.readers.giveBack(kept, isView: false)
        self.kept = nil
        self.kept = try store.lend(isView: false)
      }
      throw store.explained(FileChanged())
    }
  }

  private func begun(_ cursor: SQLiteRowCursor, _ session: Session) throws -> Statement {
    if let statement = cursor.statement { return statement }
    let statement = try session.statement(cursor.sql, for: cursor.query)
    cursor.statement = statement
    running[ObjectIdentifier(cursor)] = statement
    return statement
  }

  private func finish(_ cursor: SQLiteRowCursor) {
    running.removeValue(forKey: ObjectIdentifier(cursor))?.reset()
    cursor.statement = nil
  }

  fileprivate func forget(_ cursor: SQLiteRowCursor) { turn.withLock { _ in finish(cursor) } }
}
