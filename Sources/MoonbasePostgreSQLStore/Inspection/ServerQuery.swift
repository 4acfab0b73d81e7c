#if PostgreSQL
  import MoonbaseGraph
  package import MoonbaseModel
  package import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// A query of a person in SQL over a store on a server, in a transaction that cannot write.
  ///
  /// The names are those of the readable views, and the tables of the store. Where the server has no views of the
  /// model, the connection makes temporary ones. Confined to one thread.
  package final class ServerQuery {
    /// The names of the result's columns.
    package private(set) var columns: [String] = []
    /// The names of the views for the model. Empty where there are none.
    package private(set) var names: [String] = []
    /// Why there are no views of the model; nil if there are.
    package private(set) var lackOfViews: String?

    private let address: PostgreSQLAddress
    private let pool: ConnectionPool
    private let connection: PostgreSQLConnection
    private var page: ResultRows?
    private var row = 0

    /// The rows that are read at once.
    private static let pageSize = 500

    /// Runs a query. Without a model only the tables of the store have names.
    ///
    /// Throws as opening a store does, and `.invalidRequest` for invalid SQL, unknown names, and statements that would
    /// write.
    package init(
      _ sql: String, ofStoreAt url: URL, model: ResolvedModel?, busyTimeout: Duration? = nil
    ) throws {
      address = try PostgreSQLAddress(url)
      var options = PostgreSQLStoreOptions()
      if let busyTimeout { options.busyTimeout = busyTimeout }
      pool = ConnectionPool(address, options: options)
      connection = try pool.open()
      do {
        try StoreOpener.requireStore(address, connection)
        let views = try model.flatMap { try Self.views(of: $0, address, connection, options, pool) }
        names = views?.names ?? []
        if let views { lackOfViews = try Self.enter(views, address, connection) }
        try connection.execute(
          "SET TimeZone TO 'UTC'; SET DateStyle TO 'ISO'; SET extra_float_digits TO 1; SET bytea_output TO 'hex'; "
            + "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1")
        try declare(sql)
        let first = try nextPage()
        columns = (0..<first.columnCount).map(first.name)
      } catch {
        throw translated(error, sql)
      }
    }

    deinit { pool.close() }

    private static func views(
      of model: ResolvedModel, _ address: PostgreSQLAddress, _ connection: PostgreSQLConnection,
      _ options: PostgreSQLStoreOptions, _ pool: ConnectionPool
    ) throws -> ReadableViews? {
      let held = try StoreMetadata(connection, address: address).held(of: model)
      let opener = StoreOpener(pool: pool, model: model, entities: held, options: options)
      return try opener.contents(connection).map { ReadableViews($0.layout, of: address.schema) }
    }

    /// Puts the views on the search path. Makes temporary views where the server has none. Returns why there are none
    /// then.
    private static func enter(
      _ views: ReadableViews, _ address: PostgreSQLAddress, _ connection: PostgreSQLConnection
    ) throws -> String? {
      if try views.state(on: connection) == .current, let schema = views.schema {
        try connection.execute("SET search_path TO \(quoted(schema)), \(quoted(address.schema))")
        // Another user may not have the right to the schema of the views.
        var parameters = Parameters()
        parameters.append(schema)
        let mayUse = try connection.queryOnce("SELECT has_schema_privilege($1, 'USAGE')", parameters)
        if mayUse.integer(0, 0) == 1 { return nil }
      }
      try connection.execute("SET search_path TO \(quoted(address.schema))")
      do {
        try StoreOpener.transaction(connection) { connection in
          for statement in views.statements("CREATE TEMP VIEW") { try connection.execute(statement) }
        }
        return nil
      } catch let error as PostgreSQLError where !error.isConnectionLost {
        return "\(error)"
      }
    }

    /// Begins a cursor, which takes only statements that read.
    private func declare(_ sql: String) throws {
      guard sql.contains(where: { !$0.isWhitespace }) else {
        throw GraphError(.invalidRequest, message: "the query: there is no statement")
      }
      // Tells mistakes in the statement itself.
      try connection.check(sql, Parameters())
      do {
        try connection.queryOnce("DECLARE asked NO SCROLL CURSOR FOR \(sql)")
      } catch let error as PostgreSQLError where error.state == "42601" || error.state == "0A000" {
        throw GraphError(
          .invalidRequest,
          message: "the store is only read, and the statement is no query (SELECT, VALUES, TABLE or WITH): \(sql)")
      }
    }

    private func nextPage() throws -> ResultRows {
      let rows = try connection.queryOnce("FETCH FORWARD \(Self.pageSize) FROM asked", asText: true)
      (page, row) = (rows, 0)
      return rows
    }

    /// The next row; nil at the end.
    package func next() throws -> [Value]? {
      guard let page else { return nil }
      if row < page.count {
        defer { row += 1 }
        return (0..<page.columnCount).map { Self.value(page, row, $0) }
      }
      guard page.count == Self.pageSize else { return nil }
      do { return try nextPage().count == 0 ? nil : next() } catch { throw translated(error, "") }
    }

    /// The object identifiers of PostgreSQL's types.
    private enum TypeNumber {
      static let boolean: UInt32 = 16
      static let bytes: UInt32 = 17
      static let integers: Set<UInt32> = [20, 21, 23, 26]
      static let floats: Set<UInt32> = [700, 701]
      static let numeric: UInt32 = 1700
      static let timestamps: Set<UInt32> = [1114, 1184]
    }

    /// A value from its text form. A time has the form of ISO 8601, and other types keep PostgreSQL's form.
    private static func value(_ rows: ResultRows, _ row: Int, _ column: Int) -> Value {
      if rows.isNull(row, column) { return .null }
      let text = rows.text(row, column)
      switch rows.typeNumber(column) {
      case TypeNumber.boolean: return .bool(text == "t")
      case TypeNumber.bytes: return bytes(text).map { .data($0) } ?? .string(text)
      case let type where TypeNumber.integers.contains(type): return Int64(text).map { .int($0) } ?? .string(text)
      case let type where TypeNumber.floats.contains(type): return Double(text).map { .double($0) } ?? .string(text)
      case TypeNumber.numeric: return Decimal(literal: text).map { .decimal($0) } ?? .string(text)
      case let type where TypeNumber.timestamps.contains(type):
        guard text.contains(" ") else { return .string(text) }
        return .string(text.replacing(" ", with: "T", maxReplacements: 1).replacing("+00", with: "Z"))
      default: return .string(text)
      }
    }

    /// The bytes of PostgreSQL's hexadecimal form, `\x0102`.
    private static func bytes(_ text: String) -> Data? {
      let digits = Array(text.utf8.dropFirst(2))
      guard text.hasPrefix("\\x"), digits.count % 2 == 0 else { return nil }
      let values = digits.map { Character(Unicode.Scalar($0)).hexDigitValue }
      guard values.allSatisfy({ $0 != nil }) else { return nil }
      return Data(
        stride(from: 0, to: values.count, by: 2).map { UInt8((values[$0] ?? 0) << 4 | (values[$0 + 1] ?? 0)) })
    }

    // MARK: Errors

    private func translated(_ error: any Error, _ sql: String) -> any Error {
      guard let error = error as? PostgreSQLError, !error.isConnectionLost else { return pool.failure.translate(error) }
      if error.state == "25006" {
        return GraphError(
          .invalidRequest, message: "the store is only read, and the statement would write: \(sql)", underlying: error)
      }
      if error.state == "08P01" || error.state == "42P02" {
        return GraphError(
          .invalidRequest,
          message: "the query has parameters, for which there are no values: write the values ($1) into it",
          underlying: error)
      }
      // Syntax, names and types (42), and values (22). A missing permission is another error.
      guard error.state != "42501", error.state.hasPrefix("42") || error.state.hasPrefix("22") else {
        return pool.failure.translate(error)
      }
      return GraphError(
        .invalidRequest, message: "the query: \(error)\(hint(error))", underlying: error)
    }

    /// A suggestion for an unknown table.
    private func hint(_ error: PostgreSQLError) -> String {
      guard error.state == "42P01", let name = error.message.split(separator: "\"").dropFirst().first else { return "" }
      return suggestion(for: String(name), among: names)
    }
  }
#endif
