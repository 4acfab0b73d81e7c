#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// A session for reading: a connection of the pool, held for the time of a call, or until the session ends if it is a
  /// view or has a cursor.
  ///
  /// A kept connection is in a transaction with a consistent snapshot, which blocks no other session.
  final class PostgreSQLReadSession: ReadSession, @unchecked Sendable {  // changed only while `turn` is held
    let store: PostgreSQLStore
    private let isView: Bool
    private let turn = Lock(())
    private var kept: PostgreSQLConnection?
    private var isOver = false
    private var cursorCount = 0

    init(_ store: PostgreSQLStore, isView: Bool) throws {
      (self.store, self.isView) = (store, isView)
      if isView { kept = try store.pool.acquireView() }
    }

    deinit { end() }

    var canBeHeldOpen: Bool { turn.withLock { _ in isView && kept != nil } }

    func end() {
      turn.withLock { _ in
        isOver = true
        if let kept { store.pool.giveBackView(kept) }
        kept = nil
      }
    }

    // MARK: Connections

    private func read<Result: Sendable>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
      try turn.withLockInTime { _ in
        try checkGoesOn()
        guard let kept, isView else { return try store.pool.reading(body) }
        return try translating { try body(kept) }
      }
    }

    func translating<Result>(_ body: () throws -> Result) throws -> Result {
      do { return try body() } catch {
        throw store.pool.isClosed ? store.pool.closedError : store.pool.failure.translate(error)
      }
    }

    func checkGoesOn() throws {
      if store.pool.isClosed { throw store.pool.closedError }
      if isOver { throw GraphError(.invalidRequest, message: "a session that has ended was asked to read") }
    }

    // MARK: Queries

    func snapshots(matching query: StoreQuery) throws -> [Snapshot] {
      let select = try store.select(query)
      let sql = select.rows(query)
      return try read { connection in
        let rows = try connection.query(sql.text, Parameters(sql.values))
        let collector = RowCollector(store: store.number)
        try select.reader.collect(rows, 0..<rows.count, into: collector)
        return Array(collector.finish())
      }
    }

    func rows(matching query: StoreQuery) throws -> any RowCursor {
      let select = try store.select(query)
      let reader = select.reader
      let sql = select.rows(query)
      if !isView, sql.values.isEmpty { return PostgreSQLStream(sql.text, reader, session: self) }
      let cursor = try begin(sql) { try reader.collect($0, $1, into: $2) }
      return try cursor ?? RowList(snapshots(matching: query))
    }

    func ids(matching query: StoreQuery) throws -> any IDCursor {
      let select = try store.select(query)
      let sql = select.keys(query)
      let ids = try read { connection in
        try select.reader.ids(try connection.query(sql.text, Parameters(sql.values)))
      }
      return IDListCursor(ids)
    }

    func values(matching query: StoreQuery) throws -> any RowCursor {
      let select = try store.select(query)
      let reader = ValueReader(select, query: query, in: store)
      let sql = select.values(query)
      if let cursor = try begin(sql, { try reader.collect($0, $1, into: $2) }) { return cursor }
      let all = try read { connection in
        let collector = RowCollector(store: store.number)
        let rows = try connection.query(sql.text, Parameters(sql.values))
        try reader.collect(rows, 0..<rows.count, into: collector)
        return Array(collector.finish())
      }
      return RowList(all)
    }

    func count(matching query: StoreQuery) throws -> Int {
      if query.limit > 0 || query.offset > 0 { return try objectIDs(matching: query).count }
      var unsorted = query
      unsorted.sortDescriptors = []
      let sql = try store.select(unsorted).count(unsorted)
      return try read { Int(try $0.query(sql.text, Parameters(sql.values)).integer(0, 0)) }
    }

    // MARK: Cursors

    /// Makes a cursor, if a connection may be held for longer than a call.
    private func begin(
      _ sql: SQLFragment, _ decode: @escaping PostgreSQLCursor.Decoding
    ) throws -> PostgreSQLCursor? {
      try turn.withLock { _ in
        try checkGoesOn()
        if kept == nil, !isView { kept = try store.pool.acquireView() }
        guard kept != nil else { return nil }
        cursorCount += 1
        return PostgreSQLCursor(sql, name: "c\(cursorCount)", session: self, decode: decode)
      }
    }

    /// The next rows of a cursor.
    func page(of cursor: PostgreSQLCursor, upTo count: Int) throws -> RowBatch {
      try turn.withLock { _ in
        if let failure = cursor.failure { throw failure }
        if cursor.isOver { return RowBatch() }
        try checkGoesOn()
        guard let kept else { return RowBatch() }
        do {
          return try translating { try cursor.page(upTo: count, store: store.number, kept) }
        } catch {
          // The error ended the transaction. A failed cursor throws again and never appears to be at its end.
          cursor.failure = error
          throw error
        }
      }
    }

    func forget(_ cursor: PostgreSQLCursor) {
      turn.withLock { _ in
        guard cursor.isOpen, cursor.failure == nil, let kept else { return }
        _ = try? cursor.close(kept)
      }
    }

    // MARK: By key

    func snapshot(of id: ManagedObjectID) throws -> Snapshot? {
      guard id.storeNumber == store.number.rawValue, let entity = store.layout.model.entity(of: id) else { return nil }
      let reader = try store.reader(entity, includesSubentities: false)
      return try read { connection in
        if let row = try reader.snapshot(of: id.key, connection) { return row }
        // A row of an unknown entity is not of the requested entity.
        guard reader.select.entityCondition != nil else { return nil }
        let root = store.layout.model.entities[entity.root]
        let row = try store.reader(root, includesSubentities: true).snapshot(of: id.key, connection)
        return row?.id == id ? row : nil
      }
    }

    func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot] {
      try read { try store.snapshots(of: ids, $0) }
    }

    // MARK: Destinations

    func destinations(of id: ManagedObjectID, relationship slot: Slot) throws -> [ManagedObjectID] {
      try destinations(of: [id], relationship: slot)[0]
    }

    func destinations(of ids: [ManagedObjectID], relationship slot: Slot) throws -> [[ManagedObjectID]] {
      try read { try store.destinations(of: ids, relationship: slot, $0) }
    }

    func destinationRows(of ids: [ManagedObjectID], relationship slot: Slot) throws -> DestinationRows {
      guard let first = ids.first else { return DestinationRows() }
      let none = [Range<Int>](repeating: 0..<0, count: ids.count)
      let entity = try store.layout.layout(of: first)
      guard let query = try DestinationQuery(slot, of: entity, layout: store.layout, dialect: .postgreSQL) else {
        return DestinationRows(RowBatch(), ranges: none)
      }
      let reader = try store.reader(query.entity, includesSubentities: true)
      let ownerColumn = query.ownerColumn(among: reader.select.columns)
      let places = Dictionary(ids.enumerated().map { ($1.key, $0) }) { first, _ in first }
      return try read { connection in
        var parameters = Parameters()
        parameters.append(ids.map(\.key))
        let rows = try connection.query(query.select(reader.select.columns, keyCount: ids.count), parameters)
        let collector = RowCollector(store: store.number, expecting: rows.count)
        try reader.collect(rows, 0..<rows.count, into: collector)
        var ranges = none
        var start = 0
        // Destinations of the same owner are adjacent.
        while start < rows.count {
          let owner = rows.integer(start, ownerColumn)
          var end = start + 1
          while end < rows.count, rows.integer(end, ownerColumn) == owner { end += 1 }
          if let place = places[owner] { ranges[place] = start..<end }
          start = end
        }
        return DestinationRows(collector.finish(), ranges: ranges)
      }
    }
  }

  extension RowReader: SelectedRows {
    /// The row with a key.
    func snapshot(of key: Int64, _ connection: PostgreSQLConnection) throws -> Snapshot? {
      var parameters = Parameters()
      parameters.append(key)
      let rows = try connection.query(select.pointSelect, parameters)
      guard rows.count > 0 else { return nil }
      let collector = RowCollector(store: store, expecting: 1)
      try collect(rows, 0..<1, into: collector)
      return collector.finish().first
    }

    fileprivate func snapshots(of ids: [ManagedObjectID], _ connection: PostgreSQLConnection) throws -> [Snapshot] {
      var parameters = Parameters()
      parameters.append(ids.map(\.key))
      let rows = try connection.query(select.select(keyCount: ids.count), parameters)
      let collector = RowCollector(store: store, expecting: rows.count)
      try collect(rows, 0..<rows.count, into: collector)
      return Array(collector.finish())
    }
  }

  extension PostgreSQLStore {
    /// The rows of objects, by their keys.
    func snapshots(of ids: [ManagedObjectID], _ connection: PostgreSQLConnection) throws -> [Snapshot] {
      try layout.snapshots(of: ids, in: number, rows: reader) { try $0.snapshots(of: $1, connection) }
    }

    func destinations(
      of ids: [ManagedObjectID], relationship slot: Slot, _ connection: PostgreSQLConnection
    ) throws -> [[ManagedObjectID]] {
      var result = [[ManagedObjectID]](repeating: [], count: ids.count)
      guard let first = ids.first else { return result }
      let entity = try layout.layout(of: first)
      guard let query = try DestinationQuery(slot, of: entity, layout: layout, dialect: .postgreSQL) else {
        return result
      }
      let reader = try reader(query.entity, includesSubentities: true)
      let places = Dictionary(ids.enumerated().map { ($1.key, $0) }) { first, _ in first }
      var parameters = Parameters()
      parameters.append(ids.map(\.key))
      let rows = try connection.query(query.select(keyCount: ids.count), parameters)
      var memory = HostMemory()
      for row in 0..<rows.count {
        try HostWork.charge()
        guard let place = places[rows.integer(row, 2)] else { continue }
        result[place].append(try reader.id(rows, row))
        try memory.hold(24)
      }
      return result
    }
  }
#endif
