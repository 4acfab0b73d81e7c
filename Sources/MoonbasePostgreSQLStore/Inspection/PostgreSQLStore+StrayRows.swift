#if PostgreSQL
  import MoonbasePostgreSQL
  package import MoonbaseSQL

  extension PostgreSQLStore {
    /// The rows that belong to no entity, by table and `Z_ENT`. Reads each table once.
    package func strayRows() throws -> [StrayRows] {
      try pool.reading { connection in
        try StrayRows.statements(layout).flatMap { table, sql in
          let rows = try connection.queryOnce(sql)
          return (0..<rows.count).map { row in
            StrayRows(
              table: table, number: rows.isNull(row, 0) ? nil : "\(rows.integer(row, 0))",
              count: Int(rows.integer(row, 1)))
          }
        }
      }
    }
  }
#endif
