#if PostgreSQL
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// The parts of a store's tables that other programs added: columns, indexes, constraints and triggers. A migration,
  /// which replaces the tables, drops them.
  struct ForeignParts {
    let layout: StoreLayout
    let connection: PostgreSQLConnection
    let schema: String

    /// The names of the parts with their tables, such as `the column note of zperson`.
    func names() throws -> [String] {
      var known: [String: Set<String>] = [:]
      for table in layout.tables { known[table.name] = Set(table.columns.map(\.name) + ["Z_PK", "Z_ENT", "Z_OPT"]) }
      for join in layout.joins {
        let columns = [join.ownerColumn, join.destinationColumn] + (TableFacts(layout).orders[join.table] ?? [])
        known[join.table, default: []].formUnion(columns)
      }
      let tables = try StoreOpener.tables(of: schema, connection)
      var names: [String] = []
      for (table, columns) in known.sorted(by: { $0.key < $1.key }) {
        let found = tables[table.uppercased()]?.columns ?? []
        names += found.filter { !columns.contains($0) }.map { "the column \($0.lowercased()) of \(table.lowercased())" }
      }
      let own = Set(known.keys.map { $0.lowercased() })
      return names + (try others().filter { own.contains($0.table.lowercased()) }.map(\.name))
    }

    /// The indexes, constraints and triggers that are not the store's. Citus has a trigger of its own on each table.
    private func others() throws -> [(table: String, name: String)] {
      let indexes = Set(SchemaIndexes(layout: layout).names.map { $0.lowercased() })
      func select(_ what: String, _ column: String, from source: String, where condition: String) throws -> [(
        table: String, own: String, name: String
      )] {
        let rows = try SchemaRelations.tables(of: schema).select(
          "c.relname::text, \(column)::text", from: source, where: condition, connection)
        return (0..<rows.count).map {
          (rows.text($0, 0), rows.text($0, 1), "the \(what) \(rows.text($0, 1)) of \(rows.text($0, 0))")
        }
      }
      let found =
        try select(
          "index", "x.relname", from: " JOIN pg_index i ON i.indrelid = c.oid JOIN pg_class x ON x.oid = i.indexrelid",
          where: "NOT i.indisprimary AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = x.oid)"
        ).filter { !indexes.contains($0.own.lowercased()) }
        + select(
          "constraint", "k.conname", from: " JOIN pg_constraint k ON k.conrelid = c.oid",
          where: "k.contype NOT IN ('p', 'n', 't')")
        + select(
          "trigger", "t.tgname", from: " JOIN pg_trigger t ON t.tgrelid = c.oid",
          where: "NOT t.tgisinternal AND t.tgname NOT LIKE 'truncate_trigger%'")
      return found.map { ($0.table, $0.name) }
    }
  }

  extension PostgreSQLStore {
    /// The columns, indexes, constraints and triggers that other programs added to the store's tables, as phrases.
    package func foreignParts() throws -> [String] {
      try pool.reading { try ForeignParts(layout: layout, connection: $0, schema: address.schema).names() }
    }
  }
#endif
