#if PostgreSQL
  public import MoonbaseGraph
  public import MoonbaseModel
  import MoonbaseModelFormats
  public import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// A store in PostgreSQL: a schema with the tables of a SQLite store.
  ///
  /// Contexts on several threads and processes on several machines share a store: a save checks the versions of the
  /// rows that it changes.
  ///
  /// ```swift
  /// let store = try PostgreSQLStore(url: URL(string: "postgresql:///shop?schema=people")!, model: model.resolved())
  /// try coordinator.add(store)
  /// ```
  public final class PostgreSQLStore: PersistentStore {
    /// The store's UUID.
    public let identifier: String
    /// The entities that the store holds.
    public let entities: [ResolvedEntity]
    /// The address of the store.
    public let address: PostgreSQLAddress
    /// The address without a password.
    public let url: URL?

    let options: PostgreSQLStoreOptions
    let layout: StoreLayout
    let number: StoreNumber
    let pool: ConnectionPool
    /// Held by the session that saves.
    let saves = Lock(())
    let keys = Lock<[EntityIndex: Range<Int64>]>([:])
    let tracksHistory: Bool
    let record: SaveRecord
    let hint: SaveHint
    let derivations: DerivationPlan
    private let readers = Lock<[ReaderKey: RowReader]>([:])

    private struct ReaderKey: Hashable {
      let entity: EntityIndex
      let includesSubentities: Bool
    }

    /// The type of the store, as in its description.
    public var type: String { "PostgreSQL" }
    /// Whether the store was opened with `readOnly`.
    public var isReadOnly: Bool { options.readOnly }

    /// Opens a store, or makes one where its schema does not exist or is empty.
    ///
    /// Throws `GraphError` with `.cannotOpenFile` where the server, the database or the user is wrong, `.invalidStore`
    /// for a schema that is no store. Throws `.incompatibleVersionHash` where another version of the model wrote the
    /// store.
    public init(
      url: URL, model: ResolvedModel, configuration: String? = nil,
      options: PostgreSQLStoreOptions = PostgreSQLStoreOptions()
    ) throws {
      address = try PostgreSQLAddress(url)
      self.url = URL(string: address.description)
      self.options = options
      entities = try model.entities(inConfiguration: configuration)
      pool = ConnectionPool(address, options: options)
      let opened = try StoreOpener(pool: pool, model: model, entities: entities, options: options).open()
      layout = opened.layout
      tracksHistory = opened.tracksHistory
      identifier = opened.metadata.identifier
      number = StoreNumber(identifier)
      record = SaveRecord()
      hint = SaveHint(storeID: identifier)
      derivations = DerivationPlan(model)
    }

    deinit { pool.close() }

    /// Closes the store and its connections. Waits for a running save.
    public func close() {
      pool.close()
      // The lock is free when the running save is done. Saves that wait for the lock are refused.
      saves.withLock { _ in }
    }

    /// The store's metadata, with its identifier as `NSStoreUUID`.
    public func metadata() throws -> [String: Value] {
      try pool.reading { try StoreMetadata($0, address: address).values }
    }

    // MARK: Plans

    /// Plans a query: which part the server evaluates, and which part the context evaluates.
    public func plan(_ query: StoreQuery) throws -> QueryPlan { try QueryPlanner(attempt).plan(query) }

    /// The server's plan of the statement (`EXPLAIN`), line by line.
    public func steps(of plan: QueryPlan) throws -> [String] {
      guard let select = plan.query.prepared as? PreparedSelect else { return [] }
      let sql = plan.query.columns == nil ? select.rows(plan.query) : select.values(plan.query)
      return try pool.reading { connection in
        let rows = try connection.queryOnce("EXPLAIN \(sql.text)", Parameters(sql.values))
        return (0..<rows.count).map { rows.text($0, 0) }
      }
    }

    private func attempt(_ query: StoreQuery) throws -> QueryPlanner.Attempt {
      do {
        let select = try translated(query)
        return .statement(select.sql, select)
      } catch let error as Untranslatable {
        return .refused(error.reason)
      }
    }

    private func translated(_ query: StoreQuery) throws -> PreparedSelect {
      let reader = try reader(query.entity, includesSubentities: query.includesSubentities)
      let builder = try SelectBuilder(
        query, entityCondition: reader.select.condition(of: query), layout: layout, store: number, dialect: .postgreSQL)
      return PreparedSelect(builder, query: query, reader: reader, store: self)
    }

    /// The prepared statement of a query, from its plan if there is one.
    func select(_ query: StoreQuery) throws -> PreparedSelect {
      try QueryPlanner.prepared(query, by: self, translated)
    }

    func reader(_ entity: ResolvedEntity, includesSubentities: Bool) throws -> RowReader {
      let key = ReaderKey(entity: entity.index, includesSubentities: includesSubentities)
      if let known = readers.withLock({ $0[key] }) { return known }
      let new = try RowReader(
        entity, includesSubentities: includesSubentities, layout: layout, store: number, path: address.description)
      readers.withLock { $0[key] = new }
      return new
    }

    // MARK: Sessions

    /// Begins a session for reading.
    public func beginReading(_ extent: ReadScope) throws -> any ReadSession {
      try PostgreSQLReadSession(self, isView: extent == .view)
    }

    /// Begins a save.
    public func beginSave(author: String?) throws -> any SaveSession {
      if isReadOnly { throw GraphError(.readOnlyStore, message: "\(address) is read-only: \(writingAdvice)") }
      return try PostgreSQLSaveSession(self, author: author ?? options.transactionAuthor)
    }

    /// The number of keys that are set aside at once.
    private static let keyBlock: Int64 = 1000

    /// Reserves keys from a block that this store has set aside, and sets aside a new block where needed.
    public func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64 {
      if isReadOnly { throw GraphError(.readOnlyStore, message: "\(address) is read-only: \(writingAdvice)") }
      let count = Int64(count)
      let root = layout.model.entities[entity.root]
      return try keys.withLock { blocks in
        if let block = blocks[root.index], block.upperBound - block.lowerBound >= count {
          blocks[root.index] = block.lowerBound + count..<block.upperBound
          return block.lowerBound
        }
        let size = count + Self.keyBlock
        let last = try pool.reading { try Self.raise(layout.number(root.index), by: size, name: root.name, $0) }
        let first = last - size + 1
        blocks[root.index] = first + count..<last + 1
        return first
      }
    }

    /// Raises a counter, and returns its new value.
    static func raise(
      _ number: Int64, by count: Int64, name: String, _ connection: PostgreSQLConnection
    ) throws -> Int64 {
      var parameters = Parameters()
      parameters.append(count)
      parameters.append(number)
      let rows = try connection.query(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = COALESCE(Z_MAX, 0) + $1 WHERE Z_ENT = $2 RETURNING Z_MAX", parameters)
      guard rows.count == 1 else {
        throw GraphError(
          .invalidStore, message: "the store is damaged: in Z_PRIMARYKEY it has no row for \(name) (Z_ENT \(number))",
          entity: name)
      }
      return rows.integer(0, 0)
    }
  }

  extension PostgreSQLStore {
    /// The metadata of a store that is not open.
    ///
    /// Throws `GraphError` as opening does.
    public static func metadata(ofStoreAt url: URL, busyTimeout: Duration? = nil) throws -> [String: Value] {
      try withStore(url, busyTimeout: busyTimeout) { _, metadata in metadata.values }
    }

    /// Whether a schema does not exist or is empty, so that a store may be made in it.
    package static func isBare(at url: URL, busyTimeout: Duration? = nil) throws -> Bool {
      let address = try PostgreSQLAddress(url)
      var options = PostgreSQLStoreOptions()
      options.readOnly = true
      if let busyTimeout { options.busyTimeout = busyTimeout }
      let pool = ConnectionPool(address, options: options)
      defer { pool.close() }
      return try pool.reading { try StoreOpener.tables(of: address.schema, $0).isEmpty }
    }

    /// Reads a store that is not open.
    static func withStore<Result>(
      _ url: URL, busyTimeout: Duration? = nil, _ body: (PostgreSQLConnection, StoreMetadata) throws -> Result
    ) throws -> Result {
      let address = try PostgreSQLAddress(url)
      var options = PostgreSQLStoreOptions()
      options.readOnly = true
      if let busyTimeout { options.busyTimeout = busyTimeout }
      let pool = ConnectionPool(address, options: options)
      defer { pool.close() }
      return try pool.reading { connection in
        try StoreOpener.requireStore(address, connection)
        return try body(connection, StoreMetadata(connection, address: address))
      }
    }

    /// The number of transactions in the history of a store; 0 without a history.
    package static func transactionCount(ofStoreAt url: URL, busyTimeout: Duration? = nil) throws -> Int {
      let schema = try PostgreSQLAddress(url).schema
      return try withStore(url, busyTimeout: busyTimeout) { connection, _ in
        guard try StoreOpener.tables(of: schema, connection)["ATRANSACTION"] != nil else { return 0 }
        return Int(try connection.query("SELECT COUNT(*) FROM ATRANSACTION").integer(0, 0))
      }
    }

    /// The greatest keys that a store has given, by the names of entities.
    package static func counters(ofStoreAt url: URL, busyTimeout: Duration? = nil) throws -> [String: Int64] {
      try withStore(url, busyTimeout: busyTimeout) { connection, _ in try counters(connection) }
    }

    static func counters(_ connection: PostgreSQLConnection) throws -> [String: Int64] {
      let rows = try connection.query("SELECT Z_NAME, COALESCE(Z_MAX, 0) FROM Z_PRIMARYKEY")
      return Dictionary((0..<rows.count).map { (rows.text($0, 0), rows.integer($0, 1)) }) { first, _ in first }
    }

    /// The stored model of a store.
    ///
    /// Throws `GraphError` as opening does.
    public static func cachedModel(ofStoreAt url: URL, busyTimeout: Duration? = nil) throws -> ManagedObjectModel {
      let address = try PostgreSQLAddress(url)
      let cache = try withStore(url, busyTimeout: busyTimeout) { try StoreOpener.modelCache($0, $1) }
      guard let cache else {
        throw GraphError(.invalidStore, message: "\(address) carries no model: name the one that it was made with")
      }
      do {
        return try ManagedObjectModel(modelCache: cache)
      } catch {
        throw GraphError(
          .invalidStore,
          message:
            "\(address): the model that it carries (Z_MODELCACHE) cannot be read: \(error); name the model that it "
            + "was made with", underlying: error)
      }
    }
  }

  /// A query in SQL, from which statements for other columns of its rows are made.
  final class PreparedSelect: OwnedQuery {
    let reader: RowReader
    /// The statement that returns whole rows, or the columns that the query selects instead.
    let sql: String
    /// The store that prepared the query.
    let owner: ObjectIdentifier
    private let builder: SelectBuilder

    init(_ builder: SelectBuilder, query: StoreQuery, reader: RowReader, store: PostgreSQLStore) {
      (self.builder, self.reader, owner) = (builder, reader, ObjectIdentifier(store))
      let isOfRows = query.columns == nil
      sql =
        (isOfRows ? Self.rows(builder, reader, query) : builder.selectValues(for: query, otherwise: Self.byKey)).text
    }

    /// Rows of a query without an order are sorted by key, as in other stores. The server would return them in no
    /// defined order.
    private static let byKey = "t0.Z_PK"

    private static func rows(_ builder: SelectBuilder, _ reader: RowReader, _ query: StoreQuery) -> SQLFragment {
      builder.select(reader.select.columns, for: query, otherwise: byKey)
    }

    func rows(_ query: StoreQuery) -> SQLFragment { Self.rows(builder, reader, query) }
    func keys(_ query: StoreQuery) -> SQLFragment {
      builder.select(reader.keyColumns, for: query, otherwise: Self.byKey)
    }
    func values(_ query: StoreQuery) -> SQLFragment {
      builder.selectValues(for: query, otherwise: Self.byKey)
    }
    func count(_ query: StoreQuery) -> SQLFragment { builder.select(["COUNT(*)"], for: query) }
    /// The condition for the rows of the table `t0`, with question marks. Nil where the query joins other tables or has
    /// a window.
    func condition(_ query: StoreQuery) -> SQLFragment? { builder.condition(for: query) }
    var forms: [ColumnSelect.Form] { builder.forms }
  }
#endif
