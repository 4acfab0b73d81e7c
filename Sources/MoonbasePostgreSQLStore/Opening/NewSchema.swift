#if PostgreSQL
  package import MoonbaseGraph
  import MoonbaseModel
  package import MoonbasePlatform
  import MoonbasePostgreSQL

  /// A new store that is made in a temporary schema. When the store is complete, one transaction moves its tables to
  /// the schema of the destination.
  ///
  /// The temporary schema is removed with this object. A process that dies leaves it.
  package final class NewSchema: Sendable {
    private let destination: PostgreSQLAddress
    /// The name of the schema while the store is made.
    let schema: String
    private let pool: ConnectionPool
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
      schema = String(destination.schema.prefix(12)) + Self.mark + UUID.random().uuidString.lowercased()
      url = try destination.url(schema: schema)
      var options = PostgreSQLStoreOptions()
      if let busyTimeout { options.busyTimeout = busyTimeout }
      pool = ConnectionPool(destination, options: options)
    }

    private static let mark = "_new_"

    /// Whether a schema has the name of a store that is being made. An unfinished store has no readable views.
    static func isUnfinished(_ schema: String) -> Bool {
      UUID(uuidString: String(schema.suffix(36))) != nil && schema.dropLast(36).hasSuffix(mark)
    }

    deinit {
      discard()
      pool.close()
    }

    private var isThere: GraphError {
      GraphError(
        .invalidRequest,
        message: "\(destination) has tables already: name another schema (?schema=NAME)")
    }

    /// Removes the unfinished store, unless it was moved to its destination. Another thread may call this.
    package func discard() {
      isOver.withLock { isOver in
        guard !isOver else { return }
        isOver = true
        _ = try? pool.reading { try $0.execute("DROP SCHEMA IF EXISTS \(quoted(schema)) CASCADE") }
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
