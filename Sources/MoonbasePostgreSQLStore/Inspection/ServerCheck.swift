#if PostgreSQL
  import MoonbaseGraph
  package import MoonbaseModel
  package import MoonbasePlatform
  import MoonbasePostgreSQL
  package import MoonbaseSQL

  /// Checks a store on a server without changing it, for `moonbase doctor`.
  ///
  /// All checks read one state of the store, in a transaction that blocks no other session. The server guarantees the
  /// types of columns and its own structures. The findings are those of files (`StoreCheck`) otherwise.
  package final class ServerCheck: StoreChecking {
    /// A row of a result.
    package struct ResultRow: CheckedRow {
      fileprivate let rows: ResultRows
      fileprivate let row: Int

      package func isNull(_ column: Int) -> Bool { rows.isNull(row, column) }
      package func integer(_ column: Int) -> Int64 { rows.integer(row, column) }
      package func text(_ column: Int) -> String {
        switch rows.type(column) {
        case .bigint: "\(rows.integer(row, column))"
        case .double: "\(rows.double(row, column))"
        default: rows.text(row, column)
        }
      }
    }

    private let address: PostgreSQLAddress
    private let pool: ConnectionPool
    private let connection: PostgreSQLConnection
    private let tables: Set<String>
    private let handOver: (StoreFinding) throws -> Void
    package let layout: StoreLayout
    package let number: StoreNumber
    /// The store, for derived attributes. Nil for a store that lacks tables or columns.
    private let store: PostgreSQLStore?

    package var dialect: Dialect { .postgreSQL }

    /// The number of rows checked.
    private var rowCount = 0
    private var rowTotal = 0
    /// Receives the number of checked rows and of all rows. Without this closure, rows are not counted in advance.
    package var progress: ((_ done: Int, _ total: Int) -> Void)?

    /// The rows that are read at once.
    private static let page = 1000

    /// Opens a store. Throws as opening does, also for a store of another version of the model.
    ///
    /// `tell` receives each finding on this thread; an error that it throws ends the check.
    package init(
      storeAt url: URL, model: ResolvedModel, configuration: String? = nil, busyTimeout: Duration? = nil,
      _ tell: @escaping (StoreFinding) throws -> Void
    ) throws {
      address = try PostgreSQLAddress(url)
      handOver = tell
      var options = PostgreSQLStoreOptions()
      options.readOnly = true
      if let busyTimeout { options.busyTimeout = busyTimeout }
      pool = ConnectionPool(address, options: options)
      let opener = StoreOpener(
        pool: pool, model: model, entities: try model.entities(inConfiguration: configuration), options: options)
      let contents = try pool.reading { try opener.contents($0) }
      guard let contents else { throw StoreOpener.missing(address) }
      (layout, tables) = (contents.layout, Set(contents.tables.keys))
      number = StoreNumber(contents.metadata.identifier)
      store =
        layout.lacks.features.isEmpty
        ? try PostgreSQLStore(url: url, model: model, configuration: configuration, options: options) : nil
      guard let view = try pool.acquireView() else {
        throw GraphError(.storeBusy, message: "\(address): the server takes no more connections: try again")
      }
      connection = view
    }

    deinit {
      pool.giveBackView(connection)
      pool.close()
      store?.close()
    }

    /// Runs all checks.
    package func run() throws {
      do {
        for feature in layout.lacks.features {
          try tell(StoreFinding(kind: .missing, place: feature.table ?? address.description, message: "\(feature)"))
        }
        if !tables.contains("Z_SAVES") {
          try tell(
            StoreFinding(
              kind: .missing, place: "Z_SAVES",
              message: "the store has no table Z_SAVES, so that it cannot be saved: make it "
                + "(SET search_path TO \(quoted(address.schema)); \(SchemaWriter.savesTable))"))
        }
        try checkCounters()
        let entities = layout.entities.compactMap(\.self)
        if progress != nil { rowTotal = try entities.reduce(0) { $0 + (try count(of: $1)) } }
        for entity in entities {
          if entity.entity.parent == nil { try checkNumbers(of: entity) }
          try checkRows(of: entity)
          try checkReferences(of: entity)
          try checkUniqueValues(of: entity)
          try checkDerivations(of: entity)
        }
        try checkOrder()
        try checkHistory()
        try checkSchemas()
      } catch {
        throw pool.failure.translate(error)
      }
    }

    /// The tables of the history that the store has.
    package var historyTables: [(number: Int64, table: String)] { SchemaWriter.historyTables(among: tables) }

    package func forEachRow(of sql: String, _ body: (ResultRow) throws -> Void) throws {
      let rows = try connection.queryOnce(sql)
      for row in 0..<rows.count { try body(ResultRow(rows: rows, row: row)) }
    }

    /// Reports a finding. A store that lacks a feature is not repaired.
    package func tell(_ finding: StoreFinding) throws {
      var finding = finding
      if !layout.lacks.features.isEmpty { finding.repair = .none }
      try handOver(finding)
    }

    // MARK: Rows

    /// Calls `body` with each row of a query, in portions from a cursor of the server.
    private func forEachPage(of sql: String, _ body: (ResultRows) throws -> Void) throws {
      try connection.queryOnce("DECLARE checked NO SCROLL CURSOR FOR \(sql)")
      while true {
        let rows = try connection.queryOnce("FETCH FORWARD \(Self.page) FROM checked")
        try body(rows)
        if rows.count < Self.page { break }
      }
      try connection.execute("CLOSE checked")
    }

    /// Checks the values of all rows of an entity, as they are decoded for a fetch, and by the model's rules.
    private func checkRows(of entity: EntityLayout) throws {
      let kept = KeptColumns(entity)
      guard !kept.columns.isEmpty else { return rowCount += try count(of: entity) }
      let columns = kept.columns.map { ", \(identifier($0))" }.joined()
      let sql = "SELECT Z_PK\(columns) FROM \(identifier(entity.table)) WHERE Z_ENT = \(entity.number) ORDER BY Z_PK"
      let decoders = Self.decoders(kept)
      try forEachPage(of: sql) { rows in
        for row in 0..<rows.count {
          try HostWork.charge(1 + kept.columns.count)
          try checkValues(of: ResultRow(rows: rows, row: row), decoders, entity)
        }
        rowCount += rows.count
        progress?(rowCount, rowTotal)
      }
    }

    private static func decoders(_ kept: KeptColumns) -> [ValueDecoder<ResultRow>] {
      kept.attributes.map { property, column, kind in
        ValueDecoder(property) { place, page in
          try ColumnReader.read(kind, of: place.rows, row: place.row, column: column, into: page, slot: property.slot)
          return true
        }
      }
        + kept.composites.map { property, composite in
          let reader = CompositeReader(composite)
          return ValueDecoder(property) { place, page in
            page.set(try reader.value(place.rows, row: place.row), slot: property.slot)
            return true
          }
        }
    }

    /// Finds objects with the same values of a uniqueness constraint, which a lost index lets in.
    private func checkUniqueValues(of entity: EntityLayout) throws {
      for names in entity.entity.description.uniquenessConstraints {
        let columns = names.compactMap { entity.column(of: [$0]) }.map(identifier)
        guard columns.count == names.count, !columns.isEmpty else { continue }
        let numbers = layout.subtree(of: entity.entity).map { "\($0.number)" }.joined(separator: ", ")
        let condition = columns.map { " AND \($0) IS NOT NULL" }.joined()
        let sql =
          "SELECT MIN(Z_PK), COUNT(*) FROM \(identifier(entity.table)) WHERE Z_ENT IN (\(numbers))\(condition) "
          + "GROUP BY \(columns.joined(separator: ", ")) HAVING COUNT(*) > 1 ORDER BY 1"
        try forEachRow(of: sql) { row in
          try tell(
            StoreFinding(
              kind: .rule, of: id(row, entity), in: entity.table,
              message: "\(names.listed()): \(row.integer(1)) objects have the same, which is to be unique: change or "
                + "delete all but one of them"))
        }
      }
    }

    // MARK: Derived attributes

    /// Finds stored derived values that differ from the result of their derivation, object by object.
    private func checkDerivations(of entity: EntityLayout) throws {
      guard let store, !store.derivations.derivations[entity.entity.index].isEmpty else { return }
      let sql = "SELECT Z_PK FROM \(identifier(entity.table)) WHERE Z_ENT = \(entity.number) ORDER BY Z_PK"
      try forEachPage(of: sql) { rows in
        let ids = (0..<rows.count).map { id(ResultRow(rows: rows, row: $0), entity) }
        for difference in try store.derivedDifferences(of: ids, connection) {
          try HostWork.charge(2)
          try tellDerived(
            difference.attribute, holds: Self.shown(difference.stored), gives: Self.shown(difference.derived),
            fits: difference.fits, of: difference.object, entity)
        }
      }
    }

    /// A value as its column shows it.
    private static func shown(_ value: Value) -> String {
      switch value {
      case .null: "nothing"
      case .string(let text): text
      case .int(let number): "\(number)"
      case .double(let number): "\(number)"
      case .date(let date): "\(date.timeIntervalSinceReferenceDate)"
      case .bool(let flag): flag ? "1" : "0"
      default: "\(value)"
      }
    }

    // MARK: Schemas

    /// Finds schemas of copies and migrations whose processes died.
    private func checkSchemas() throws {
      for name in try AbandonedSchemas.names(beside: address.schema, connection) {
        try tell(
          StoreFinding(
            kind: .orphan, place: name,
            message:
              "it is a store that a copy or a migration left unfinished, and no process uses it: drop the schema",
            repair: .file))
      }
    }

    // MARK: History

    /// Finds history rows that are invalid or have no transaction.
    private func checkHistory() throws {
      let there = historyTables.map(\.table)
      guard there.count == 2 else {
        guard let only = there.first else { return }
        let other = only == "ACHANGE" ? "ATRANSACTION" : "ACHANGE"
        return try tell(
          StoreFinding(
            kind: .missing, place: other,
            message: "the store has \(only), and no table \(other): restore it from a backup, or drop \(only)"))
      }
      for (table, condition, what) in [
        ("ACHANGE", "ZCHANGETYPE NOT BETWEEN 0 AND 2", "its kind is none"),
        ("ACHANGE", "ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION)", "its transaction is not there"),
      ] {
        try forEachRow(of: "SELECT Z_PK FROM \(table) WHERE \(condition) ORDER BY Z_PK") { row in
          try tell(StoreFinding(kind: .history, place: "\(table) \(row.text(0))", message: what))
        }
      }
    }
  }
#endif
