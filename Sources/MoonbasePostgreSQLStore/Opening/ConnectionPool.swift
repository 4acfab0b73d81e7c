#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// The connections of a store, as many as threads use at once. Some idle connections are kept.
  final class ConnectionPool: Sendable {
    private static let kept = 4

    let address: PostgreSQLAddress
    private let options: PostgreSQLStoreOptions
    private let idle = Lock<[PostgreSQLConnection]>([])
    private let closed = Lock(false)
    private let views = Lock(0)
    /// The identifier of the table `Z_METADATA` when the store was opened.
    private let table = Lock<Int64?>(nil)

    init(_ address: PostgreSQLAddress, options: PostgreSQLStoreOptions) {
      (self.address, self.options) = (address, options)
    }

    var failure: StoreFailure { StoreFailure(address: address) }
    var isClosed: Bool { closed.withLock { $0 } }

    var closedError: GraphError {
      GraphError(.invalidRequest, message: "\(address) was closed: open the store again, or make a new container")
    }

    /// A connection for the exclusive use of the caller, until it is given back.
    func acquire() throws -> PostgreSQLConnection {
      if isClosed { throw closedError }
      if let connection = idle.withLock({ $0.popLast() }) { return connection }
      return try open()
    }

    /// Opens a new connection.
    func open() throws -> PostgreSQLConnection {
      if isClosed { throw closedError }
      do {
        let connection = try PostgreSQLConnection([
          ("dbname", address.target), ("application_name", Self.applicationName(address.schema)),
          ("client_encoding", "UTF8"), ("connect_timeout", "10"),
        ])
        try configure(connection)
        try checkTable(connection)
        return connection
      } catch {
        throw failure.translate(error)
      }
    }

    /// Expects the present tables in later connections.
    func expectTables(_ connection: PostgreSQLConnection) throws {
      let found = try Self.tableNumber(connection)
      table.withLock { $0 = found }
    }

    /// Throws where the store has other tables than when it was opened. The statement waits for a migration that
    /// replaces them.
    private func checkTable(_ connection: PostgreSQLConnection) throws {
      guard let table = table.withLock({ $0 }), try Self.tableNumber(connection) != table else { return }
      throw GraphError(
        .storeFailure,
        message: "\(address): the store was migrated or made anew since it was opened: open it again")
    }

    private static func tableNumber(_ connection: PostgreSQLConnection) throws -> Int64? {
      let rows = try connection.queryOnce("SELECT tableoid::bigint FROM Z_METADATA LIMIT 1")
      return rows.count == 1 ? rows.integer(0, 0) : nil
    }

    /// The name of a store's connections for the server, of at most 63 bytes: a migration looks for them.
    static func applicationName(_ schema: String) -> String {
      let name = schema.utf8.map { (0x20..<0x7f).contains($0) ? Character(Unicode.Scalar($0)) : "?" }
      return String("moonbase \(String(name))".prefix(63))
    }

    private func configure(_ connection: PostgreSQLConnection) throws {
      try connection.execute(
        "SET search_path TO \(quoted(address.schema)); SET client_min_messages TO warning; "
          + "SET lock_timeout TO \(max(1, options.busyTimeout.milliseconds)); "
          + "SET default_transaction_isolation TO 'read committed'; "
          // A user whose sessions only read stays such a user.
          + (options.readOnly ? "SET default_transaction_read_only TO on" : "")
      )
      connection.isCancelled = { [closed] in closed.withLock { $0 } }
      if let log = options.sqlLog {
        connection.observer = { sql, parameters, rows, duration in
          let statement = Self.cut(sql)
          let shown = log.level == .values && parameters.count > 0 ? Self.cut("\(sql) [\(parameters)]") : statement
          log.write(SQLLog.Entry(sql: shown, statement: statement, rowCount: rows, duration: duration))
        }
      }
    }

    private static func cut(_ text: String) -> String {
      text.utf8.count > 10_000 ? String(decoding: text.utf8.prefix(10_000), as: UTF8.self) : text
    }

    /// Takes back a connection without an open transaction.
    func giveBack(_ connection: PostgreSQLConnection) {
      guard connection.isAlive, !connection.isInTransaction, !isClosed else { return }
      idle.withLock { if $0.count < Self.kept { $0.append(connection) } }
    }

    /// Runs `body` with a connection. Where a kept connection is lost, `body` runs again with a new connection.
    /// Therefore `body` must have no effect besides its result.
    func reading<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
      let first = try acquire()
      do {
        let result = try body(first)
        giveBack(first)
        return result
      } catch let error as PostgreSQLError where error.isConnectionLost && !isClosed {
        idle.withLock { $0.removeAll() }
      } catch {
        giveBack(first)
        throw isClosed ? closedError : failure.translate(error)
      }
      let second = try open()
      defer { giveBack(second) }
      do { return try body(second) } catch { throw failure.translate(error) }
    }

    /// A connection in a transaction with a consistent snapshot. Nil where too many views are open.
    func acquireView() throws -> PostgreSQLConnection? {
      let isRoom = views.withLock { [options] count in
        guard count < options.viewLimit else { return false }
        count += 1
        return true
      }
      guard isRoom else { return nil }
      do {
        // The snapshot is taken by the first statement of the transaction.
        return try acquire { try $0.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1") }
      } catch {
        views.withLock { $0 -= 1 }
        // The server may allow fewer connections.
        if ((error as? GraphError)?.underlying as? PostgreSQLError)?.state == "53300" { return nil }
        throw error
      }
    }

    /// A connection on which `begin` has begun a transaction or a statement. Where a kept connection is lost, `begin`
    /// runs again with a new connection.
    func acquire(_ begin: (PostgreSQLConnection) throws -> Void) throws -> PostgreSQLConnection {
      do {
        let kept = try acquire()
        do {
          try begin(kept)
          return kept
        } catch let error as PostgreSQLError where error.isConnectionLost && !isClosed {
          idle.withLock { $0.removeAll() }
        }
        let new = try open()
        try begin(new)
        return new
      } catch {
        throw isClosed ? closedError : failure.translate(error)
      }
    }

    func giveBackView(_ connection: PostgreSQLConnection) {
      views.withLock { $0 -= 1 }
      if connection.isAlive { _ = try? connection.execute("COMMIT") }
      giveBack(connection)
    }

    func close() {
      closed.withLock { $0 = true }
      idle.withLock { $0.removeAll() }
    }
  }
#endif
