#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  package import MoonbasePlatform
  import MoonbasePostgreSQL

  extension PostgreSQLStore {
    /// Gives up the room of deleted rows in a store's tables (`VACUUM FULL`), and the records of old sessions. Returns
    /// the sizes of tables and indexes before and after the call, in bytes.
    ///
    /// The server locks each table while it rewrites the table, so that other sessions wait. Throws `.storeBusy` where
    /// another session uses a table for longer than `busyTimeout`, and `.readOnlyStore` where the tables belong to
    /// another user.
    package static func vacuum(
      storeAt url: URL, busyTimeout: Duration? = nil
    ) throws -> (before: Int, after: Int) {
      let address = try PostgreSQLAddress(url)
      var options = PostgreSQLStoreOptions()
      if let busyTimeout { options.busyTimeout = busyTimeout }
      let pool = ConnectionPool(address, options: options)
      defer { pool.close() }
      return try pool.reading { connection in
        try StoreOpener.requireStore(address, connection)
        let names = try ownTables(of: address, connection)
        let before = try size(of: address.schema, connection)
        try SaveRecord.removeOld(on: connection)
        // Not in a transaction, so that each table is locked for the time of its own turn.
        for name in names { try connection.execute("VACUUM (FULL, ANALYZE) \(quoted(name))") }
        return (before, try size(of: address.schema, connection))
      }
    }

    /// The tables of a schema. The server would pass over tables of another user in silence.
    private static func ownTables(
      of address: PostgreSQLAddress, _ connection: PostgreSQLConnection
    ) throws -> [String] {
      let rows = try SchemaRelations.tables(of: address.schema).select(
        "c.relname::text, pg_has_role(c.relowner, 'USAGE'), pg_get_userbyid(c.relowner)::text", connection)
      for row in 0..<rows.count where rows.integer(row, 1) == 0 {
        throw GraphError(
          .readOnlyStore,
          message:
            "\(address): the table \(rows.text(row, 0)) belongs to the user \(rows.text(row, 2)): have that user "
            + "do it")
      }
      return (0..<rows.count).map { rows.text($0, 0) }
    }

    /// The size of a schema's tables with their indexes, in bytes.
    static func size(of schema: String, _ connection: PostgreSQLConnection) throws -> Int {
      let rows = try SchemaRelations.tables(of: schema).select("pg_total_relation_size(c.oid)", connection)
      return (0..<rows.count).reduce(0) { $0 + Int(rows.integer($1, 0)) }
    }
  }
#endif
