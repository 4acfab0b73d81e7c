#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbaseModelFormats
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// Opens or makes a store's schema, and returns its layout and metadata.
  struct StoreOpener {
    struct Result {
      var layout: StoreLayout
      var metadata: StoreMetadata
      var tracksHistory: Bool
    }

    let pool: ConnectionPool
    let model: ResolvedModel
    let entities: [ResolvedEntity]
    let options: PostgreSQLStoreOptions

    private var address: PostgreSQLAddress { pool.address }
    /// The oldest supported server version: the first with minus infinity as a `numeric`.
    private static let oldestVersion = 140_000

    func open() throws -> Result {
      let end = ContinuousClock.now + options.busyTimeout
      while true {
        do {
          return try pool.reading { connection in
            try checkServer(connection)
            let result = try openExisting(connection) ?? create(connection)
            try pool.expectTables(connection)
            guard !options.readOnly else { return result }
            try SaveRecord.removeOld(on: connection)
            if !NewSchema.isUnfinished(address.schema) {
              try ReadableViews(result.layout, of: address.schema).renew(on: connection)
            }
            return result
          }
        } catch let error as GraphError {
          // Another process may be making the same schema.
          let state = (error.underlying as? PostgreSQLError)?.state ?? ""
          guard ["23505", "42P06", "42P07", "40001", "40P01"].contains(state), ContinuousClock.now < end else {
            throw error
          }
          try HostWork.pause(milliseconds: 20)
        }
      }
    }

    private func checkServer(_ connection: PostgreSQLConnection) throws {
      guard connection.serverVersion >= Self.oldestVersion else {
        throw GraphError(
          .cannotOpenFile,
          message:
            "\(address): the server is PostgreSQL \(connection.serverSetting("server_version") ?? "?"), and Moonbase needs 14 or later"
        )
      }
      let encoding = connection.serverSetting("server_encoding") ?? "?"
      guard encoding == "UTF8" else {
        throw GraphError(
          .cannotOpenFile,
          message: "\(address): the database keeps texts as \(encoding), which has not all of Unicode: "
            + "name a database that was made with the encoding UTF8")
      }
    }

    // MARK: An existing schema

    /// The tables of a schema, and the layout with the features that the schema lacks.
    struct Contents {
      let tables: [String: FileSchema.Table]
      let layout: StoreLayout
      let metadata: StoreMetadata
    }

    /// Reads a schema. Returns nil where the schema does not exist or is empty. Throws for a schema that is no store,
    /// and for a store of another version of the model.
    func contents(_ connection: PostgreSQLConnection) throws -> Contents? {
      let tables = try Self.tables(of: address.schema, connection)
      if tables.isEmpty { return nil }
      try Self.check(tables, address)
      let metadata = try StoreMetadata(connection, address: address)
      try checkModel(metadata, connection)
      let layout = try Self.found(
        model, held: entities, tables: tables, metadata: metadata, address: address, connection)
      return Contents(tables: tables, layout: layout, metadata: metadata)
    }

    /// Returns nil where the schema does not exist or is empty.
    private func openExisting(_ connection: PostgreSQLConnection) throws -> Result? {
      guard let contents = try contents(connection) else { return nil }
      try Self.requireWhole(contents.layout, address)
      return Result(
        layout: contents.layout, metadata: contents.metadata,
        tracksHistory: try tracksHistory(contents.tables["ACHANGE"] != nil, connection))
    }

    /// The layout of an existing schema. Throws where it lacks a table or column.
    static func layout(
      _ model: ResolvedModel, held entities: [ResolvedEntity], tables: [String: FileSchema.Table],
      metadata: StoreMetadata, address: PostgreSQLAddress, _ connection: PostgreSQLConnection
    ) throws -> StoreLayout {
      let layout = try found(
        model, held: entities, tables: tables, metadata: metadata, address: address, connection)
      try requireWhole(layout, address)
      return layout
    }

    /// The layout of an existing schema, with what it lacks.
    private static func found(
      _ model: ResolvedModel, held entities: [ResolvedEntity], tables: [String: FileSchema.Table],
      metadata: StoreMetadata, address: PostgreSQLAddress, _ connection: PostgreSQLConnection
    ) throws -> StoreLayout {
      let schema = FileSchema(
        tables: tables, numbers: try numbers(connection), path: address.description, name: address.schema,
        preparation: ReadableViews.schema(of: address.schema).map { "DROP SCHEMA IF EXISTS \(identifier($0)) CASCADE" })
      var builder = LayoutBuilder(
        model: model, entities: entities, file: schema, elementColumns: metadata.elementColumns,
        path: address.description, dialect: .postgreSQL)
      let layout = try builder.build()
      for table in Set(layout.entities.compactMap { $0?.table }).sorted() {
        try schema.require(["Z_PK", "Z_ENT", "Z_OPT"], in: table)
        try schema.requireKey(of: table)
        try schema.require(type: Dialect.postgreSQL.type(nil), of: ["Z_PK", "Z_ENT", "Z_OPT"], in: table)
      }
      for join in layout.joins { try schema.requireKey([join.ownerColumn, join.destinationColumn], of: join.table) }
      return layout
    }

    private static func requireWhole(_ layout: StoreLayout, _ address: PostgreSQLAddress) throws {
      guard let lack = layout.lacks.features.first else { return }
      throw GraphError(.invalidStore, message: "\(address) is damaged: \(lack)")
    }

    private func checkModel(_ metadata: StoreMetadata, _ connection: PostgreSQLConnection) throws {
      try StoreCompatibility(
        path: address.description, stored: metadata.hashes,
        version: StoreMetadata.version(model, entities: entities), model: model.description
      ) {
        (try? Self.modelCache(connection, metadata)).flatMap { try? ManagedObjectModel(modelCache: $0) }
      }.check()
    }

    /// Whether the store keeps a history. Makes the history tables where the options require them.
    private func tracksHistory(
      _ isThere: Bool, _ connection: PostgreSQLConnection
    ) throws -> Bool {
      guard options.tracksHistory, !isThere else { return isThere }
      guard !options.readOnly else {
        throw GraphError(
          .readOnlyStore,
          message:
            "\(address) has no tables for a history, and is only read: open it for writing, or without a history (--keep-history, tracksHistory)"
        )
      }
      try Self.transaction(connection) { try SchemaWriter.writeHistory($0) }
      return true
    }

    /// Throws where there is no store.
    static func requireStore(_ address: PostgreSQLAddress, _ connection: PostgreSQLConnection) throws {
      let tables = try tables(of: address.schema, connection)
      if tables.isEmpty { throw missing(address) }
      try check(tables, address)
    }

    /// Throws for a schema with tables that is no store.
    static func check(_ tables: [String: FileSchema.Table], _ address: PostgreSQLAddress) throws {
      if tables["Z_METADATA"] != nil, tables["Z_PRIMARYKEY"] != nil { return }
      throw GraphError(
        .invalidStore,
        message: "\(address): the schema \(address.schema) has tables and is no store (it has no table Z_METADATA): "
          + "name another one (?schema=NAME)")
    }

    static func missing(_ address: PostgreSQLAddress) -> GraphError {
      GraphError(
        .cannotOpenFile,
        message:
          "\(address): there is no store in the schema \(address.schema): name one, or name a model (--model) and open "
          + "it for writing to make it")
    }

    /// The tables and views of a schema, with their columns in capitals and the types of the columns.
    static func tables(
      of schema: String, _ connection: PostgreSQLConnection
    ) throws -> [String: FileSchema.Table] {
      let rows = try SchemaRelations(schema: schema, kinds: .all).select(
        "c.relname::text, ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 "
          + "AND NOT a.attisdropped ORDER BY a.attnum), "
          + "ARRAY(SELECT format_type(a.atttypid, a.atttypmod) || COALESCE((SELECT ' COLLATE ' || quote_ident(l.collname) "
          + "FROM pg_collation l WHERE l.oid = a.attcollation), '') FROM pg_attribute a WHERE a.attrelid = c.oid "
          + "AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum), "
          + "(SELECT COUNT(*) FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary), "
          + "has_schema_privilege(n.oid, 'USAGE')", connection)
      var tables: [String: FileSchema.Table] = [:]
      // The server hides the tables of a schema that the user may not use.
      if rows.count > 0, rows.integer(0, 4) == 0 {
        throw PostgreSQLError(state: "42501", message: "permission denied for schema \(schema)")
      }
      for row in 0..<rows.count {
        tables[rows.text(row, 0).uppercased()] = FileSchema.Table(
          columns: rows.texts(row, 1).map { $0.uppercased() }, types: rows.texts(row, 2),
          hasKey: rows.integer(row, 3) == 1)
      }
      return tables
    }

    private static func numbers(_ connection: PostgreSQLConnection) throws -> [String: Int64] {
      let rows = try connection.query("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY WHERE Z_ENT < 16000")
      return Dictionary((0..<rows.count).map { (rows.text($0, 0), rows.integer($0, 1)) }) { first, _ in first }
    }

    /// The archived model of a store.
    static func modelCache(_ connection: PostgreSQLConnection, _ metadata: StoreMetadata) throws -> Data? {
      let rows = try connection.query("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
      return rows.count == 1 ? metadata.model(besideCache: rows.data(0, 0)) : nil
    }

    // MARK: A new schema

    private func create(_ connection: PostgreSQLConnection) throws -> Result {
      if options.readOnly { throw Self.missing(address) }
      var builder = LayoutBuilder(model: model, entities: entities, file: nil, dialect: .postgreSQL)
      let layout = try builder.build()
      try layout.checkColumnCounts(.postgreSQL)
      let metadata = StoreMetadata(model: model, entities: entities, type: "PostgreSQL")
      let writer = SchemaWriter(layout: layout, metadata: metadata)
      try writer.checkNames(address)
      try Self.transaction(connection) { connection in
        try connection.execute("CREATE SCHEMA IF NOT EXISTS \(quoted(address.schema))")
        try writer.write(connection)
        if options.tracksHistory { try SchemaWriter.writeHistory(connection) }
      }
      return Result(layout: layout, metadata: metadata, tracksHistory: options.tracksHistory)
    }

    /// Runs `body` in a transaction, which ends with `commit`.
    static func transaction(
      _ connection: PostgreSQLConnection, ending commit: String = "COMMIT",
      _ body: (PostgreSQLConnection) throws -> Void
    ) throws {
      try connection.execute("BEGIN")
      do {
        try body(connection)
        try connection.execute(commit)
      } catch {
        _ = try? connection.execute("ROLLBACK")
        throw error
      }
    }
  }
#endif
