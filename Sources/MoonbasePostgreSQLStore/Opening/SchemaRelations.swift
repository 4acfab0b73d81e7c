#if PostgreSQL
  import MoonbasePostgreSQL

  /// The tables and views of a schema, as the server's catalogue has them.
  struct SchemaRelations {
    /// The kinds of relations, as values of `pg_class.relkind`.
    enum Kinds: String {
      case tables = "'r', 'p'"
      case views = "'v'"
      case all = "'r', 'p', 'v', 'm', 'f'"
    }

    let schema: String
    let kinds: Kinds

    /// The tables of a schema.
    static func tables(of schema: String) -> Self { Self(schema: schema, kinds: .tables) }

    /// Selects columns of `pg_class c` and `pg_namespace n` for each relation, in the order of the names. `source` is a
    /// further table or function.
    func select(
      _ columns: String, from source: String = "", where condition: String = "true", _ connection: PostgreSQLConnection
    ) throws -> ResultRows {
      var parameters = Parameters()
      parameters.append(schema)
      return try connection.queryOnce(
        "SELECT \(columns) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace\(source) "
          + "WHERE n.nspname = $1 AND c.relkind IN (\(kinds.rawValue)) AND \(condition) ORDER BY c.relname", parameters)
    }

    /// The names of the relations.
    func names(_ connection: PostgreSQLConnection) throws -> [String] {
      let rows = try select("c.relname::text", connection)
      return (0..<rows.count).map { rows.text($0, 0) }
    }

    /// The statements that give other users than the owner their rights to a relation, with its name.
    func grants(_ connection: PostgreSQLConnection) throws -> [(name: String, statement: String)] {
      let rows = try select(
        "c.relname::text, format('GRANT %s ON %I.%I TO %s', a.privilege_type, n.nspname, c.relname, \(Self.grantee))",
        from: ", aclexplode(c.relacl) a", where: "a.grantee <> c.relowner", connection)
      return (0..<rows.count).map { (rows.text($0, 0), rows.text($0, 1)) }
    }

    /// The statements that give other users than the owner their rights to the schema itself.
    func schemaGrants(_ connection: PostgreSQLConnection) throws -> [String] {
      var parameters = Parameters()
      parameters.append(schema)
      let rows = try connection.queryOnce(
        "SELECT format('GRANT %s ON SCHEMA %I TO %s', a.privilege_type, n.nspname, \(Self.grantee)) "
          + "FROM pg_namespace n, aclexplode(n.nspacl) a WHERE n.nspname = $1 AND a.grantee <> n.nspowner", parameters)
      return (0..<rows.count).map { rows.text($0, 0) }
    }

    /// The user of an entry `a` of a list of rights, for a statement.
    private static let grantee =
      "CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END"
  }
#endif
