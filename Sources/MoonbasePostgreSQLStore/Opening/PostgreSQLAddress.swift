#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  public import MoonbasePlatform

  /// The address of a store in PostgreSQL: a server, a database and a schema.
  ///
  /// ```
  /// postgresql://ann@db.example.org/shop?schema=people
  /// postgresql:///shop?host=/run/postgresql
  /// ```
  ///
  /// All parts but `schema` have libpq's meaning. Missing parts come from libpq's environment variables and files
  /// (`PGHOST`, `PGPASSFILE`).
  public struct PostgreSQLAddress: Sendable, CustomStringConvertible {
    /// The schema with the store's tables.
    public let schema: String
    /// The address without a password, for messages.
    public let description: String
    /// The address for libpq, password included.
    let target: String

    /// The schema of an address that names no schema.
    public static let defaultSchema = "moonbase"

    /// Parses an address. Throws `.cannotOpenFile` for an invalid address.
    public init(_ url: URL) throws {
      guard var parts = URLComponents(string: url.absoluteString), Self.isAddress(url.absoluteString),
        url.absoluteString.contains("://")
      else {
        throw Self.error("is no address of PostgreSQL: write postgresql://USER@HOST/DATABASE?schema=NAME")
      }
      let items = parts.queryItems ?? []
      let schemas = items.filter { $0.name == "schema" }
      guard schemas.count < 2 else { throw Self.error("names several schemas: a store is one of them") }
      schema = schemas.first?.value ?? Self.defaultSchema
      guard (1...63).contains(schema.utf8.count), !schema.utf8.contains(0) else {
        throw Self.error("names a schema of \(schema.utf8.count) bytes: PostgreSQL takes one to 63")
      }
      // PostgreSQL replaces this name in a search path by the name of the user.
      guard schema != "$user" else {
        throw Self.error("names the schema $user, which PostgreSQL takes for another one")
      }
      let rest = items.filter { $0.name != "schema" }
      parts.queryItems = rest.isEmpty ? nil : rest
      guard let target = parts.string else { throw Self.error("cannot be read") }
      self.target = target
      parts.password = nil
      let shown = items.filter { $0.name != "password" && $0.name != "sslpassword" }
      parts.queryItems = shown.isEmpty ? nil : shown
      description = parts.string ?? "postgresql:"
    }

    /// The same database with another schema, password included.
    func url(schema: String) throws -> URL {
      guard var parts = URLComponents(string: target) else { throw Self.error("cannot be read") }
      parts.queryItems = (parts.queryItems ?? []) + [URLQueryItem(name: "schema", value: schema)]
      guard let url = parts.url else { throw Self.error("cannot be read") }
      return url
    }

    /// Whether a text is an address, not a path.
    public static func isAddress(_ text: String) -> Bool {
      text.hasPrefix("postgresql:") || text.hasPrefix("postgres:")
    }

    /// The message omits the address, which may contain a password.
    private static func error(_ what: String) -> GraphError {
      GraphError(.cannotOpenFile, message: "the store's address \(what)")
    }
  }
#endif
