#if PostgreSQL
  import MoonbasePostgreSQL

  /// The temporary schemas of copies and migrations whose processes died (`NewSchema`).
  enum AbandonedSchemas {
    /// The names of the abandoned schemas for a destination, as far as the user may drop them.
    static func names(beside schema: String, _ connection: PostgreSQLConnection) throws -> [String] {
      var prefix = Parameters()
      prefix.append(NewSchema.prefix(schema))
      let schemas = try connection.queryOnce(
        "SELECT nspname::text FROM pg_namespace WHERE starts_with(nspname, $1) AND pg_has_role(nspowner, 'USAGE') "
          + "ORDER BY nspname", prefix)
      let unfinished = (0..<schemas.count).map { schemas.text($0, 0) }.filter(NewSchema.isUnfinished)
      if unfinished.isEmpty { return [] }
      let sessions = try connection.queryOnce(
        "SELECT COALESCE(application_name, '') FROM pg_stat_activity WHERE datname = current_database()")
      let used = Set((0..<sessions.count).map { sessions.text($0, 0) })
      return unfinished.filter { !used.contains(ConnectionPool.applicationName($0)) }
    }

    /// Drops the abandoned schemas for a destination.
    static func remove(beside schema: String, _ connection: PostgreSQLConnection) throws {
      for name in try names(beside: schema, connection) {
        try connection.execute("DROP SCHEMA IF EXISTS \(quoted(name)) CASCADE")
      }
    }
  }
#endif
