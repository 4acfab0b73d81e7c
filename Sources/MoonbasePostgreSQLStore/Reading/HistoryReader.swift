#if PostgreSQL
  public import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  extension PostgreSQLStore {
    /// The history of the store. Nil where the store keeps none.
    public func history() throws -> (any StoreHistory)? { tracksHistory ? HistoryReader(store: self) : nil }
  }

  /// Reads the history tables of a schema.
  struct HistoryReader: StoreHistory {
    let store: PostgreSQLStore

    func span() throws -> HistoryBounds {
      try store.pool.reading { connection in
        var parameters = Parameters()
        parameters.append(SchemaWriter.transactions)
        let rows = try connection.query(
          "SELECT (SELECT MIN(Z_PK) FROM ATRANSACTION), COALESCE(Z_MAX, 0) FROM Z_PRIMARYKEY WHERE Z_ENT = $1",
          parameters)
        guard rows.count == 1 else { return HistoryBounds(first: nil, last: 0) }
        return HistoryBounds(first: rows.isNull(0, 0) ? nil : rows.integer(0, 0), last: rows.integer(0, 1))
      }
    }

    func transactions(
      _ extent: HistoryRange, includingChanges: Bool, limit: Int
    ) throws -> [PersistentHistoryTransaction] {
      try store.pool.reading { connection in
        let (condition, parameters) = extent.condition
        let rows = try connection.query(
          "SELECT t.Z_PK, t.ZTIMESTAMP, t.ZAUTHOR, t.ZCONTEXTNAME, t.ZBUNDLEID, t.ZPROCESSID FROM ATRANSACTION t"
            + "\(condition) ORDER BY t.Z_PK\(limit > 0 ? " LIMIT \(limit)" : "")", parameters)
        try HostWork.charge(rows.count)
        let found = (0..<rows.count).map { row in
          func text(_ column: Int) -> String? { rows.isNull(row, column) ? nil : rows.text(row, column) }
          return PersistentHistoryTransaction(
            transactionNumber: rows.integer(row, 0), storeID: store.identifier,
            timestamp: Date(timeIntervalSinceReferenceDate: rows.double(row, 1)), author: text(2),
            contextName: text(3), bundleID: text(4), processID: text(5))
        }
        guard includingChanges, let first = found.first, let last = found.last else { return found }
        let part = try changes(
          of: first.transactionNumber...last.transactionNumber, after: .min, limit: -1, connection)
        return found.map { $0.with(part.changes[$0.transactionNumber] ?? []) }
      }
    }

    func changes(of transactions: ClosedRange<Int64>, after change: Int64, limit: Int) throws -> HistoryPart {
      try store.pool.reading { try changes(of: transactions, after: change, limit: limit, $0) }
    }

    func number(ofLast count: Int) throws -> Int64? {
      guard count > 0 else { return nil }
      return try store.pool.reading { connection in
        let rows = try connection.query(
          "SELECT Z_PK, (SELECT MIN(Z_PK) FROM ATRANSACTION) FROM ATRANSACTION ORDER BY Z_PK DESC LIMIT 1 OFFSET \(count - 1)"
        )
        return rows.count == 1 && rows.integer(0, 0) != rows.integer(0, 1) ? rows.integer(0, 0) : nil
      }
    }

    static func delete(_ extent: HistoryRange, on connection: PostgreSQLConnection) throws -> Int {
      let (condition, parameters) = extent.condition
      try connection.query(
        "DELETE FROM ACHANGE WHERE ZTRANSACTIONID IN (SELECT t.Z_PK FROM ATRANSACTION t\(condition))", parameters)
      return try connection.query("DELETE FROM ATRANSACTION t\(condition)", parameters).affectedCount
    }

    // MARK: Changes

    private func changes(
      of transactions: ClosedRange<Int64>, after change: Int64, limit: Int, _ connection: PostgreSQLConnection
    ) throws -> HistoryPart {
      var parameters = Parameters()
      for number in [transactions.lowerBound, transactions.upperBound, change] { parameters.append(number) }
      let rows = try connection.query(
        "SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS, ZTOMBSTONE FROM ACHANGE "
          + "WHERE ZTRANSACTIONID BETWEEN $1 AND $2 AND Z_PK > $3 ORDER BY ZTRANSACTIONID, Z_PK"
          + (limit >= 0 ? " LIMIT \(limit)" : ""), parameters)
      var part = HistoryPart()
      var memory = HostMemory()
      let entities = try self.entities(rows, connection)
      for row in 0..<rows.count {
        try HostWork.charge()
        part.end = row + 1 == limit ? (rows.integer(row, 4), rows.integer(row, 0)) : nil
        // Entities of other configurations are not known here.
        guard let layout = store.layout.entity(number: rows.integer(row, 2)),
          let type = PersistentHistoryChange.ChangeType(rawValue: rows.integer(row, 1))
        else { continue }
        let key = rows.integer(row, 3)
        let entity = entities[layout.entity.root]?[key] ?? layout.entity
        try memory.hold(192 + rows.bytes(row, 6).count)
        part.append(
          PersistentHistoryChange(
            changeID: rows.integer(row, 0),
            changedObjectID: ManagedObjectID(store: store.number, entity: entity.symbol, key: key), changeType: type,
            updatedProperties: type == .update ? ChangedColumns.names(rows.data(row, 5), of: layout) : [],
            tombstone: type == .delete ? Self.tombstone(rows.data(row, 6), of: layout) : [:]),
          of: rows.integer(row, 4))
      }
      return part
    }

    /// The entities of changed rows according to the rows themselves, in tables with several entities, by root and key.
    private func entities(
      _ rows: ResultRows, _ connection: PostgreSQLConnection
    ) throws -> [EntityIndex: [Int64: ResolvedEntity]] {
      var keys: [EntityIndex: Set<Int64>] = [:]
      for row in 0..<rows.count {
        guard let entity = store.layout.entity(number: rows.integer(row, 2))?.entity,
          store.layout.model.entities[entity.root].hasSubentities
        else { continue }
        keys[entity.root, default: []].insert(rows.integer(row, 3))
      }
      var result: [EntityIndex: [Int64: ResolvedEntity]] = [:]
      for (root, keys) in keys {
        let table = try store.layout.layout(store.layout.model.entities[root]).table
        var parameters = Parameters()
        parameters.append(keys)
        let found = try connection.query(
          "SELECT Z_PK, Z_ENT FROM \(identifier(table)) WHERE Z_PK = ANY($1)", parameters)
        for row in 0..<found.count {
          result[root, default: [:]][found.integer(row, 0)] =
            store.layout.entity(number: found.integer(row, 1))?.entity
        }
      }
      return result
    }

    private static func tombstone(_ data: Data, of layout: EntityLayout) -> [String: Value] {
      guard let entries = (try? PropertyList(binary: data))?.dictionary else { return [:] }
      var values: [String: Value] = [:]
      for property in layout.tombstone {
        guard let entry = entries[property.name], let type = property.attributeType else { continue }
        values[property.name] = entry.metadataValue.kept(as: type)
      }
      return values
    }
  }

  extension Value {
    /// A value of a property list, converted to an attribute type.
    fileprivate func kept(as type: AttributeType) -> Value {
      switch (self, type) {
      case (.string(let text), .decimal): Decimal(stored: text).map { .decimal($0) } ?? .null
      case (.string(let text), .uuid): UUID(uuidString: text).map { .uuid($0) } ?? .null
      case (.string(let text), .uri): URL(string: text).map { .uri($0) } ?? .null
      default: self
      }
    }
  }

  extension HistoryRange {
    /// The condition in SQL, with its parameter.
    fileprivate var condition: (sql: String, parameters: Parameters) {
      var parameters = Parameters()
      switch self {
      case .all: return ("", parameters)
      case .after(let number), .before(let number): parameters.append(number)
      case .afterDate(let date), .beforeDate(let date): parameters.append(date.timeIntervalSinceReferenceDate)
      }
      let words =
        switch self {
        case .after: "t.Z_PK >"
        case .before: "t.Z_PK <"
        case .afterDate: "t.ZTIMESTAMP >"
        default: "t.ZTIMESTAMP <"
        }
      return (" WHERE \(words) $1", parameters)
    }
  }
#endif
