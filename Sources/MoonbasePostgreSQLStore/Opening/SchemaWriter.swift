#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbaseModelFormats
  import MoonbasePostgreSQL
  import MoonbaseSQL

  import enum MoonbaseModel.Expression

  /// Makes the tables and indexes of a new store. The tables are those of a SQLite store, with PostgreSQL's types.
  ///
  /// No server features are used: no triggers, foreign keys, generated columns or sequences.
  struct SchemaWriter {
    let layout: StoreLayout
    let metadata: StoreMetadata

    /// Makes all tables, indexes and metadata in the caller's transaction.
    func write(_ connection: PostgreSQLConnection) throws {
      // Each on its own: Citus sends the text around a statement to its workers, which take one statement at a time.
      for statement in statements { try connection.execute(statement) }
      try writePrimaryKeys(connection)
      let caches = try layout.model.modelCaches()
      var parameters = Parameters()
      parameters.append(caches.plain)
      try connection.query("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES ($1)", parameters)
      var metadata = metadata
      metadata.elementColumns = layout.elementColumns
      if let complete = caches.complete { metadata.keep(complete, besideCache: caches.plain) }
      try metadata.write(connection)
    }

    var statements: [String] {
      let facts = TableFacts(layout)
      return layout.tables.map(createTable) + layout.joins.map { createTable($0, facts: facts) }
        + SchemaIndexes(layout: layout).statements
        + [
          "CREATE TABLE Z_PRIMARYKEY (Z_ENT bigint PRIMARY KEY, Z_NAME text, Z_SUPER bigint, Z_MAX bigint)",
          "CREATE TABLE Z_METADATA (Z_VERSION bigint PRIMARY KEY, Z_UUID text, Z_PLIST bytea)",
          "CREATE TABLE Z_MODELCACHE (Z_CONTENT bytea)",
          Self.savesTable,
        ]
    }

    /// The statement that makes the table of saves.
    static let savesTable =
      "CREATE TABLE Z_SAVES (Z_SESSION text PRIMARY KEY, Z_NUMBER bigint NOT NULL, Z_TIME timestamptz NOT NULL)"

    /// Throws for a name that PostgreSQL would truncate.
    func checkNames(_ address: PostgreSQLAddress) throws {
      let names =
        layout.tables.flatMap { [$0.name] + $0.columns.map(\.name) }
        + layout.joins.flatMap {
          [$0.table, $0.ownerColumn, $0.destinationColumn] + [$0.orderColumn].compactMap(\.self)
        }
      guard let long = names.first(where: { $0.utf8.count > 63 }) else { return }
      throw GraphError(
        .invalidStore,
        message: "\(address): the name \(long) has \(long.utf8.count) bytes, and PostgreSQL takes 63: give the entity, "
          + "attribute or relationship that it is made of a shorter name")
    }

    // MARK: Tables

    private func createTable(_ table: TableLayout) -> String {
      let columns =
        ["Z_PK bigint PRIMARY KEY", "Z_ENT bigint", "Z_OPT bigint"]
        + table.orderedColumns.map { "\(identifier($0.name)) \($0.type)" }
      return "CREATE TABLE \(identifier(table.name)) (\(columns.joined(separator: ", ")))"
    }

    private func createTable(_ join: JoinLayout, facts: TableFacts) -> String {
      let keys = [join.ownerColumn, join.destinationColumn].map(identifier)
      let columns = keys + (facts.orders[join.table] ?? []).map(identifier)
      let list = columns.map { "\($0) bigint" }.joined(separator: ", ")
      return "CREATE TABLE \(identifier(join.table)) (\(list), PRIMARY KEY (\(keys.joined(separator: ", "))))"
    }

    // MARK: Numbers

    private func writePrimaryKeys(_ connection: PostgreSQLConnection) throws {
      for entity in layout.entities.compactMap({ $0 }) {
        try Self.writeCounter(
          entity.number, name: entity.entity.name, parent: entity.entity.parent.map { layout.number($0) } ?? 0,
          connection)
      }
    }

    private static func writeCounter(
      _ number: Int64, name: String, parent: Int64, _ connection: PostgreSQLConnection
    ) throws {
      var parameters = Parameters()
      parameters.append(number)
      parameters.append(name)
      parameters.append(parent)
      try connection.query(
        "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING",
        parameters)
    }

    // MARK: History

    /// The numbers of the history's tables.
    static let (changes, transactions): (Int64, Int64) = (16_001, 16_002)

    /// The tables of the history that a schema has, with their numbers.
    static func historyTables(among tables: Set<String>) -> [(number: Int64, table: String)] {
      [(changes, "ACHANGE"), (transactions, "ATRANSACTION")].filter { tables.contains($0.1) }
    }

    /// Makes the history tables. A tombstone is a property list with the values of a deleted row.
    static func writeHistory(_ connection: PostgreSQLConnection) throws {
      for statement in [
        "CREATE TABLE ATRANSACTION (Z_PK bigint PRIMARY KEY, ZTIMESTAMP double precision NOT NULL, ZAUTHOR text, "
          + "ZCONTEXTNAME text, ZBUNDLEID text, ZPROCESSID text)",
        "CREATE TABLE ACHANGE (Z_PK bigint PRIMARY KEY, ZCHANGETYPE bigint NOT NULL, ZENTITY bigint NOT NULL, "
          + "ZENTITYPK bigint NOT NULL, ZTRANSACTIONID bigint NOT NULL, ZCOLUMNS bytea, ZTOMBSTONE bytea)",
        "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
      ] {
        try connection.execute(statement)
      }
      try writeCounter(changes, name: "CHANGE", parent: 0, connection)
      try writeCounter(transactions, name: "TRANSACTION", parent: 0, connection)
    }
  }
#endif
