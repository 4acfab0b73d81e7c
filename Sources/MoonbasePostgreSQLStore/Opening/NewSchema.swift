#if PostgreSQL
  package import MoonbaseGraph
  import MoonbaseModel
  package import MoonbasePlatform
  import MoonbasePostgreSQL

  /// A new store that is made in a temporary schema. When the store is complete, one transaction moves its tables to
  /// the schema of the destination.
  ///
  /// The temporary schema is removed with this object. A process that dies leaves it to `AbandonedSchemas`.
  package final class NewSchema: Sendable {
    private let destination: PostgreSQLAddress
    /// The name of the schema while the store is made.
    let schema: String
    private let pool: ConnectionPool
    private let options: PostgreSQLStoreOptions
    /// A connection with the name of the temporary schema, which shows others that the schema is in use.
    private let keeper: PostgreSQLConnection
    private let isOver = Lock(false)

    /// The address of the store while it is made.
    package let url: URL

    /// Names the schema, which the store that is opened there makes. Throws if the destination has tables.
    package convenience init(at place: URL, busyTimeout: Duration? = nil) throws {
      try self.init(beside: place, busyTimeout: busyTimeout)
      let tables = try pool.reading { [destination] in try StoreOpener.tables(of: destination.schema, $0) }
      if !tables.isEmpty { throw isThere }
    }

    /// Names the temporary schema of a store that takes the place of another.
    init(beside place: URL, busyTimeout: Duration?) throws {
      destination = try PostgreSQLAddress(place)
      schema = Self.prefix(destination.schema) + UUID.random().uuidString.lowercased()
      url = try destination.url(schema: schema)
      var options = PostgreSQLStoreOptions()
      if let busyTimeout { options.busyTimeout = busyTimeout }
      self.options = options
      pool = ConnectionPool(destination, options: options)
      keeper = try ConnectionPool(PostgreSQLAddress(url), options: options).open()
      do { try AbandonedSchemas.remove(beside: destination.schema, keeper) } catch {
        throw pool.failure.translate(error)
      }
    }

    /// The part of a temporary name between the beginning of the destination's name and a UUID.
    private static let mark = "_new_"

    /// The beginning of the names of temporary schemas for a destination.
    static func prefix(_ schema: String) -> String { String(schema.prefix(12)) + mark }

    /// Whether a schema has the name of a store that is being made. An unfinished store has no readable views.
    static func isUnfinished(_ schema: String) -> Bool {
      UUID(uuidString: String(schema.suffix(36))) != nil && schema.dropLast(36).hasSuffix(mark)
    }

    deinit { discard() }

    private var isThere: GraphError {
      GraphError(
        .invalidRequest,
        message: "\(destination) has tables already: name another schema (?schema=NAME)")
    }

    /// Removes the unfinished store, unless it was moved to its destination. Another thread may call this while the
    /// store is made or moved: statements that run are cancelled, and connections with locks are ended.
    package func discard() {
      // Cancels a move that waits for another session.
      pool.close()
      isOver.withLock { isOver in
        guard !isOver else { return }
        isOver = true
        let pool = ConnectionPool(destination, options: options)
        defer { pool.close() }
        _ = try? pool.reading { connection in
          var name = Parameters()
          name.append(ConnectionPool.applicationName(schema))
          try connection.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 "
              + "AND usename = current_user AND datname = current_database()", name)
          try connection.execute("DROP SCHEMA IF EXISTS \(quoted(schema)) CASCADE")
        }
      }
    }

    /// Moves the complete, closed store to its destination.
    package func moveIntoPlace() throws {
      try isOver.withLock { isOver in
        guard !isOver else { throw CancellationError() }
        let connection = try pool.open()
        do {
          try StoreOpener.transaction(connection) {
            try $0.execute("CREATE SCHEMA IF NOT EXISTS \(quoted(destination.schema))")
            try moveTables($0)
          }
        } catch let error as PostgreSQLError where error.state == "42P07" {
          throw isThere
        } catch {
          throw pool.failure.translate(error)
        }
        isOver = true
        // The views are made when the store is opened for writing, if not now.
        try? ReadableViews.renew(of: destination, on: connection, grants: [])
      }
    }

    /// Moves all tables to the destination within a transaction, and drops the temporary schema.
    func moveTables(_ connection: PostgreSQLConnection) throws {
      let moves = try SchemaRelations.tables(of: schema).names(connection).map {
        "ALTER TABLE \(quoted(schema)).\(quoted($0)) SET SCHEMA \(quoted(destination.schema))"
      }
      for statement in moves + ["DROP SCHEMA \(quoted(schema))"] { try connection.execute(statement) }
    }

    /// The error with the store's destination in its message.
    package func named(_ error: GraphError) -> GraphError {
      var error = error
      error.message = error.message.replacing(schema, with: destination.schema)
      return error
    }
  }

  /// A name as an identifier of PostgreSQL, with its case kept.
  func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
#endif
