#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  package import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// The replacement of a store's tables by those of a new store, in one transaction. Until it ends, other sessions
  /// read the store and do not write it.
  package final class SchemaReplacement {
    private let address: PostgreSQLAddress
    private let pool: ConnectionPool
    private let connection: PostgreSQLConnection
    private let new: NewSchema
    private let patience: Duration
    /// The greatest keys that were given, by the names of entities.
    package let counters: [String: Int64]
    /// The number of transactions in the history; nil for a store without a history.
    package let transactionCount: Int?

    /// The address of the new store while it is made.
    package var url: URL { new.url }

    /// Locks the store against other writers.
    package init(of url: URL, busyTimeout: Duration?) throws {
      address = try PostgreSQLAddress(url)
      var options = PostgreSQLStoreOptions()
      if let busyTimeout { options.busyTimeout = busyTimeout }
      patience = options.busyTimeout
      pool = ConnectionPool(address, options: options)
      new = try NewSchema(beside: url, busyTimeout: busyTimeout)
      connection = try pool.open()
      do {
        let tables = try StoreOpener.tables(of: address.schema, connection)
        try StoreOpener.check(tables, address)
        try connection.execute("BEGIN; SET LOCAL idle_in_transaction_session_timeout TO 0")
        let names = try SchemaRelations.tables(of: address.schema).names(connection)
        try connection.execute("LOCK TABLE \(names.map(quoted).joined(separator: ", ")) IN EXCLUSIVE MODE")
        counters = try PostgreSQLStore.counters(connection)
        transactionCount =
          tables["ATRANSACTION"] == nil
          ? nil : Int(try connection.query("SELECT COUNT(*) FROM ATRANSACTION").integer(0, 0))
      } catch {
        throw pool.failure.translate(error)
      }
    }

    /// Removes the unfinished new store. Another thread may call this.
    package var discard: @Sendable () -> Void { new.discard }

    deinit {
      if connection.isAlive, connection.isInTransaction { _ = try? connection.execute("ROLLBACK") }
      pool.close()
    }

    /// Replaces the tables of `old`, which is closed by then, by the complete new store. Tables of other programs stay.
    ///
    /// The store keeps its identifier, and `counters` are the least numbers of keys that were given. A history begins
    /// anew with greater numbers. Throws `.storeBusy` while another session has the store open.
    package func moveIntoPlace(of old: PostgreSQLStore, counters: [String: Int64]) throws {
      do {
        let own = old.layout.tables.map(\.name) + old.layout.joins.map(\.table)
        let known = Set(own.map { $0.uppercased() }).union(Self.tablesOfFormat)
        let names = try SchemaRelations.tables(of: address.schema).names(connection)
        let replaced = names.filter { known.contains($0.uppercased()) }
        try connection.execute("LOCK TABLE \(names.map(quoted).joined(separator: ", ")) IN ACCESS EXCLUSIVE MODE")
        try awaitOthers()
        let grants = try self.grants()
        let viewGrants = try ReadableViews.drop(of: address.schema, connection)
        try connection.execute("DROP TABLE \(replaced.map(quoted).joined(separator: ", "))")
        try new.moveTables(connection)
        try keep(old.identifier, counters)
        for grant in grants { try connection.execute(grant) }
        try connection.execute("COMMIT")
        try? ReadableViews.renew(of: address, on: connection, grants: viewGrants)
      } catch {
        throw pool.failure.translate(error)
      }
    }

    static let tablesOfFormat: Set = [
      "Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE", "Z_SAVES", "ACHANGE", "ATRANSACTION",
    ]

    /// Waits until no other connection of a store in this schema is open. A connection that waits for the locks counts
    /// too: it may be in the midst of a save with the old layout.
    private func awaitOthers() throws {
      let end = ContinuousClock.now + patience
      var parameters = Parameters()
      parameters.append(ConnectionPool.applicationName(address.schema))
      while true {
        try connection.execute("SELECT pg_stat_clear_snapshot()")
        let rows = try connection.query(
          "SELECT pid::bigint FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database() "
            + "AND pid <> pg_backend_pid()", parameters)
        if rows.count == 0 { return }
        guard ContinuousClock.now < end else {
          let processes = (0..<rows.count).map { "\(rows.integer($0, 0))" }.listed()
          throw GraphError(
            .storeBusy,
            message: "\(address) cannot be migrated while others have it open (server processes \(processes)): close "
              + "it there and try again")
        }
        try HostWork.pause(milliseconds: 20)
      }
    }

    /// The statements that give other users their rights to the new tables, by the names of the old tables.
    private func grants() throws -> [String] {
      let present = Set(try SchemaRelations.tables(of: new.schema).names(connection))
      let grants = try SchemaRelations.tables(of: address.schema).grants(connection)
      return grants.filter { present.contains($0.name) }.map(\.statement)
    }

    /// Gives the new tables the identity and the numbers of the old ones.
    private func keep(_ identifier: String, _ counters: [String: Int64]) throws {
      var parameters = Parameters()
      parameters.append(identifier)
      try connection.query("UPDATE Z_METADATA SET Z_UUID = $1", parameters)
      if transactionCount != nil { try SchemaWriter.writeHistory(connection) }
      let ofHistory = self.counters.filter { ["CHANGE", "TRANSACTION"].contains($0.key) }
      for (name, greatest) in counters.merging(ofHistory, uniquingKeysWith: max) {
        var parameters = Parameters()
        parameters.append(greatest)
        parameters.append(name)
        try connection.query(
          "UPDATE Z_PRIMARYKEY SET Z_MAX = GREATEST(COALESCE(Z_MAX, 0), $1) WHERE Z_NAME = $2", parameters)
      }
    }
  }
#endif
