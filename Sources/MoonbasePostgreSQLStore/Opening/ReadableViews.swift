#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbaseModelFormats
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// The views with the model's names, in a schema beside the store's schema, for people with `psql`.
  ///
  /// A comment on the schema has a digest of the views. Opening a store for writing makes the views where the digest is
  /// missing or another one. A store without views is complete.
  struct ReadableViews {
    /// Why the views are as they are.
    enum State: Equatable {
      /// The schema has the views of the model.
      case current
      /// The schema has the views of another model.
      case outdated
      case missing
      /// Another program made the schema.
      case foreign
    }

    private let views: [NamedViews.View]
    /// The schema of the views. Nil where the name would be too long.
    let schema: String?
    private let mark: String

    private static let suffix = "_views"
    private static let markPrefix = "Readable views of a store of Moonbase, "

    init(_ layout: StoreLayout, of schema: String) {
      views = Self.views(layout, of: schema)
      self.schema = Self.schema(of: schema)
      // The name of the schema is no part of the digest, so that a copy has the same one.
      let text = Self.views(layout, of: "").map { "\($0.name) \($0.select)" }.joined(separator: "\n")
      mark = Self.markPrefix + SHA2.shortText(Data(text.utf8))
    }

    static func schema(of schema: String) -> String? {
      schema.utf8.count + suffix.utf8.count > 63 ? nil : schema + suffix
    }

    /// The names of the views.
    var names: [String] { views.map(\.name) }

    /// The statements that make the views in the current schema.
    func statements(_ create: String) -> [String] {
      views.map { "\(create) \(quoted($0.name)) AS \($0.select)" }
    }

    private static func views(_ layout: StoreLayout, of schema: String) -> [NamedViews.View] {
      NamedViews(layout, form: .folded(qualifier: quoted(schema) + ".", value: readable)).views()
    }

    /// A column's value as PostgreSQL's own type: truth values, times, and NaN. Dates beyond PostgreSQL's times are
    /// infinite.
    private static func readable(_ kind: ColumnKind, _ term: String) -> String {
      switch kind {
      case .boolean: "(\(term) <> 0)"
      case .date:
        "CASE WHEN \(term) > 9e12 THEN 'infinity' WHEN \(term) < -2e11 THEN '-infinity' "
          + "ELSE to_timestamp(\(term) + 978307200) END"
      case .decimal: "CASE WHEN \(term) = '-Infinity' THEN 'NaN' ELSE \(term) END"
      default: term
      }
    }

    // MARK: The schema

    func state(on connection: PostgreSQLConnection) throws -> State {
      guard let schema, let (comment, count) = try Self.contents(of: schema, connection) else { return .missing }
      guard comment.hasPrefix(Self.markPrefix) else { return .foreign }
      // A view is gone that was dropped with its table (CASCADE).
      return comment == mark && count == views.count ? .current : .outdated
    }

    /// The comment on a schema, empty if there is none, and the number of views in it. Nil for no schema.
    private static func contents(
      of schema: String, _ connection: PostgreSQLConnection
    ) throws -> (comment: String, viewCount: Int)? {
      var parameters = Parameters()
      parameters.append(schema)
      let rows = try connection.queryOnce(
        "SELECT COALESCE(obj_description(n.oid, 'pg_namespace'), ''), (SELECT COUNT(*) FROM pg_class c "
          + "WHERE c.relnamespace = n.oid AND c.relkind = 'v') FROM pg_namespace n WHERE n.nspname = $1",
        parameters)
      return rows.count == 1 ? (rows.text(0, 0), Int(rows.integer(0, 1))) : nil
    }

    /// Makes the views, if the schema does not have them yet and the user may make them. A failure leaves the views as
    /// they were: the store does not need them.
    ///
    /// `grants` are the rights to former views.
    func renew(on connection: PostgreSQLConnection, grants: [String] = []) throws {
      guard let schema else { return }
      do {
        let state = try state(on: connection)
        guard state == .outdated || state == .missing, try Self.mayMake(connection) else { return }
        try StoreOpener.transaction(connection) { connection in
          // Citus would otherwise make a distributed schema.
          try connection.execute("SET LOCAL citus.enable_schema_based_sharding TO off")
          let grants = try grants + Self.drop(schema, connection)
          try connection.execute("CREATE SCHEMA \(quoted(schema))")
          for statement in statements("CREATE VIEW \(quoted(schema)).") { try connection.execute(statement) }
          try connection.execute("COMMENT ON SCHEMA \(quoted(schema)) IS '\(mark)'")
          try Self.restore(grants, connection)
        }
      } catch let error as PostgreSQLError where !error.isConnectionLost {}
    }

    private static func mayMake(_ connection: PostgreSQLConnection) throws -> Bool {
      try connection.queryOnce("SELECT has_database_privilege(current_database(), 'CREATE')").integer(0, 0) == 1
    }

    /// Makes the views of a store whose tables were replaced or moved.
    static func renew(of address: PostgreSQLAddress, on connection: PostgreSQLConnection, grants: [String]) throws {
      let metadata = try StoreMetadata(connection, address: address)
      guard let cache = try StoreOpener.modelCache(connection, metadata),
        let model = try? ManagedObjectModel(modelCache: cache).resolved()
      else { return }
      let layout = try StoreOpener.layout(
        model, held: metadata.held(of: model), tables: StoreOpener.tables(of: address.schema, connection),
        metadata: metadata, address: address, connection)
      try ReadableViews(layout, of: address.schema).renew(on: connection, grants: grants)
    }

    // MARK: Removal

    /// Removes the views of a store within a transaction. Returns the statements for the rights of other users.
    ///
    /// Throws where views of other programs depend on them.
    static func drop(of schema: String, _ connection: PostgreSQLConnection) throws -> [String] {
      guard let views = self.schema(of: schema) else { return [] }
      return try drop(views, connection)
    }

    private static func drop(_ schema: String, _ connection: PostgreSQLConnection) throws -> [String] {
      guard try contents(of: schema, connection)?.comment.hasPrefix(markPrefix) == true else { return [] }
      let views = SchemaRelations(schema: schema, kinds: .views)
      let grants = try views.schemaGrants(connection) + views.grants(connection).map(\.statement)
      let names = try views.names(connection).map { "\(quoted(schema)).\(quoted($0))" }
      if !names.isEmpty { try connection.execute("DROP VIEW \(names.joined(separator: ", "))") }
      try connection.execute("DROP SCHEMA \(quoted(schema))")
      return grants
    }

    /// Gives users their rights again, as far as the views are still there.
    private static func restore(_ grants: [String], _ connection: PostgreSQLConnection) throws {
      for grant in grants {
        try connection.execute("SAVEPOINT moonbase_grant")
        do { try connection.execute(grant) } catch let error as PostgreSQLError where !error.isConnectionLost {
          try connection.execute("ROLLBACK TO SAVEPOINT moonbase_grant")
        }
      }
    }
  }
#endif
