#if PostgreSQL
  import MoonbaseGraph
  package import MoonbaseModel
  package import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// Facts about a store's schema, other than its objects.
  package struct SchemaFacts: Sendable {
    /// The version of the server.
    package var serverVersion: String
    /// The name of the database.
    package var database: String
    /// The name of the schema.
    package var schema: String
    /// The size of the tables with their indexes, in bytes.
    package var size: Int
    /// The number of transactions in the history; nil for a store without a history.
    package var transactionCount: Int?
    /// The times of the first and the last transaction.
    package var span: (first: Date, last: Date)?
    /// The number of open connections of stores in this schema, without the one that asks.
    package var connectionCount: Int
    /// Tables and views that the model does not know; nil without a model.
    package var foreignTables: [String]?
    /// The schema of the readable views, or why there is none; nil without a model.
    package var views: String?
  }

  extension PostgreSQLStore {
    /// Reads the facts of a store's schema. `model` determines the known tables.
    package static func facts(
      ofStoreAt url: URL, model: ResolvedModel? = nil, busyTimeout: Duration? = nil
    ) throws -> SchemaFacts {
      let address = try PostgreSQLAddress(url)
      return try withStore(url, busyTimeout: busyTimeout) { connection, metadata in
        let tables = try StoreOpener.tables(of: address.schema, connection)
        var name = Parameters()
        name.append(ConnectionPool.applicationName(address.schema))
        let others = try connection.query(
          "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database() "
            + "AND pid <> pg_backend_pid()", name)
        var facts = SchemaFacts(
          serverVersion: connection.serverSetting("server_version") ?? "?", database: connection.place.database,
          schema: address.schema, size: try size(of: address.schema, connection),
          connectionCount: Int(others.integer(0, 0)),
          foreignTables: nil)
        if let model {
          let layout = try StoreOpener.layout(
            model, held: metadata.held(of: model), tables: tables, metadata: metadata, address: address, connection)
          facts.foreignTables = foreign(tables, layout)
          facts.views = try views(layout, address, connection)
        }
        guard tables["ATRANSACTION"] != nil else { return facts }
        let history = try connection.query("SELECT COUNT(*), MIN(ZTIMESTAMP), MAX(ZTIMESTAMP) FROM ATRANSACTION")
        facts.transactionCount = Int(history.integer(0, 0))
        if !history.isNull(0, 1) {
          facts.span = (
            Date(timeIntervalSinceReferenceDate: history.double(0, 1)),
            Date(timeIntervalSinceReferenceDate: history.double(0, 2))
          )
        }
        return facts
      }
    }

    /// The tables that are neither of the model nor of the format.
    private static func foreign(_ tables: [String: FileSchema.Table], _ layout: StoreLayout) -> [String] {
      let own = layout.tables.map(\.name) + layout.joins.map(\.table)
      let known = Set(own.map { $0.uppercased() }).union(SchemaReplacement.tablesOfFormat)
      return tables.keys.filter { !known.contains($0) }.sorted()
    }

    /// The place of the readable views, or why there are none.
    private static func views(
      _ layout: StoreLayout, _ address: PostgreSQLAddress, _ connection: PostgreSQLConnection
    ) throws -> String {
      let views = ReadableViews(layout, of: address.schema)
      guard let schema = views.schema else { return "none: the name of the schema is too long for one beside it" }
      return switch try views.state(on: connection) {
      case .current: "schema \(schema)"
      case .outdated: "schema \(schema), of another version of the model: opened for writing the store makes them anew"
      case .missing:
        "none: the store makes them when it is opened for writing by a user with the right CREATE on the database"
      case .foreign: "none: the schema \(schema) is of another program"
      }
    }
  }
#endif
