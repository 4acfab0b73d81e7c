#if PostgreSQL
  public import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  import enum MoonbaseModel.Expression

  /// A batch request as one statement about a set of rows.
  ///
  /// An update sets constants, and integers that grow by a constant. A deletion is of rows that no other row refers to.
  /// The statement has the same result as the graph, or the graph executes the request.
  struct SetChange {
    /// A column and its new value.
    private struct Assignment {
      let slot: Slot
      let column: String
      /// The new value, with question marks.
      let value: SQLFragment

      var setting: SQLFragment { "\(column) = " + value }
      var difference: SQLFragment { "t0.\(column) IS DISTINCT FROM " + value }
    }

    private let request: StoreBatchRequest
    /// The store, if it keeps a history.
    private let recorded: PostgreSQLStore?
    private let model: ResolvedModel
    private let select: PreparedSelect
    /// The entities that the rows may have.
    private let kinds: [EntityLayout]
    /// Nil for a deletion.
    private let assignments: [Assignment]?

    /// Returns nil for a request that SQL does not do exactly as the graph would.
    init?(_ request: StoreBatchRequest, in store: PostgreSQLStore) throws {
      self.request = request
      let query = request.query
      let model = store.layout.model
      let concrete = query.entity.indexes(includingSubentities: query.includesSubentities)
        .filter { !model.entities[$0].isAbstract }
      let kinds = concrete.compactMap { store.layout.entities[$0] }
      guard !kinds.isEmpty, kinds.count == concrete.count, store.derivations.areIndependent(of: kinds) else {
        return nil
      }
      recorded = store.tracksHistory ? store : nil
      switch request.kind {
      case .delete:
        guard kinds.areLeaves(ofTable: query.entity.root, in: model) else { return nil }
        assignments = nil
      case .update(let values):
        var assignments: [Assignment] = []
        for (slot, value) in values.sorted(by: { $0.key < $1.key }) {
          guard let assignment = Self.assignment(value, to: slot, kinds) else { return nil }
          assignments.append(assignment)
        }
        self.assignments = assignments
      }
      (self.model, self.kinds) = (model, kinds)
      select = try store.select(query)
    }

    private static func assignment(
      _ value: StoreBatchRequest.NewValue, to slot: Slot, _ kinds: [EntityLayout]
    ) -> Assignment? {
      guard case .expression(let expression) = value, let (column, kind) = column(slot, kinds),
        !kinds.contains(where: { $0.entity.uniquenessConstraints.contains { $0.contains(slot) } })
      else { return nil }
      switch expression {
      case .constant(.null): return Assignment(slot: slot, column: column, value: SQLFragment("NULL"))
      case .constant(let value):
        guard value.isExactInSQL, value.parameterType == kind.type else { return nil }
        return Assignment(slot: slot, column: column, value: SQLFragment("?", values: [value]))
      default:
        return growth(expression, kinds).flatMap { sum in
          kind.range.map { Assignment(slot: slot, column: column, value: checked(sum, in: $0)) }
        }
      }
    }

    /// The column that stores an attribute of all entities. Nil for values whose equality in SQL is not that of the
    /// graph.
    private static func column(_ slot: Slot, _ kinds: [EntityLayout]) -> (name: String, kind: ColumnKind)? {
      var found: (name: String, kind: ColumnKind)?
      for layout in kinds {
        guard case .attribute(let column, let kind) = layout.slots[slot],
          found == nil || found?.name == identifier(column),
          layout.entity.properties[slot].attribute?.type != .transformable
        else { return nil }
        switch kind {
        case .decimal, .externalData: return nil
        default: found = (identifier(column), kind)
        }
      }
      return found
    }

    /// The sum of an integer attribute and an integer: `age + 1`, `age - 1`.
    private static func growth(_ expression: Expression, _ kinds: [EntityLayout]) -> SQLFragment? {
      guard case .function(let name, let arguments) = expression, arguments.count == 2,
        let sign = [PredicateFunction.add.rawValue: "+", PredicateFunction.subtract.rawValue: "-"][name],
        case .keyPath(.evaluatedObject, let keys) = arguments[0], keys.count == 1,
        case .constant(.int(let number)) = arguments[1], let property = kinds[0].entity.property(keys[0]),
        let (column, kind) = column(property.slot, kinds), kind.range != nil
      else { return nil }
      return SQLFragment("t0.\(column) \(sign) ?", values: [.int(number)])
    }

    /// A sum within a range. Another sum is a division by zero, which ends the statement.
    private static func checked(_ sum: SQLFragment, in range: ClosedRange<Int64>) -> SQLFragment {
      let isWithin = sum + " BETWEEN \(range.lowerBound) AND \(range.upperBound)"
      return "(CASE WHEN " + isWithin + " THEN " + sum + " ELSE 1 / (t0.Z_PK - t0.Z_PK) END)"
    }

    // MARK: Running

    /// Runs the request. Nil where a value is beyond its range: the graph then names the row.
    func run(on connection: PostgreSQLConnection) throws -> StoreBatchResult? {
      do {
        if recorded == nil, request.resultType != .objectIDs, let condition = select.condition(request.query) {
          return try change(where: condition, on: connection)
        }
        let sql = select.keys(request.query)
        let ids = try select.reader.ids(connection.query(sql.text + " FOR UPDATE OF t0", Parameters(sql.values)))
        let condition = SQLFragment("t0.Z_PK = ANY(?)", values: [.list(ids.map { .int($0.key) })])
        return try change(Array(ids), where: condition, on: connection)
      } catch let error as PostgreSQLError where ["22003", "22012"].contains(error.state) {
        return nil
      }
    }

    /// Changes the rows of a condition, and reports entities instead of objects.
    private func change(where condition: SQLFragment, on connection: PostgreSQLConnection) throws -> StoreBatchResult {
      let count = try send(statement(condition, countsAll: request.resultType == .count), on: connection).affectedCount
      let names =
        [request.query.entity.name] + (assignments == nil ? kinds.namesOfDestinations(in: model) : [])
      return StoreBatchResult(
        count: count, objectIDs: [], changes: count == 0 ? SavedObjectIDs() : .anything(of: names))
    }

    /// Changes locked rows, and reports them.
    private func change(
      _ ids: [ManagedObjectID], where condition: SQLFragment, on connection: PostgreSQLConnection
    ) throws -> StoreBatchResult {
      let sql = statement(condition, countsAll: false) + " RETURNING t0.Z_PK"
      guard let assignments else {
        // The history keeps values of the deleted rows.
        var deletions = StoreChanges()
        deletions.deleted = ids.map { StoreChanges.Deletion(id: $0, expectedVersion: nil) }
        let record = try recorded.map { try HistoryRecord(deletions, author: author, in: $0, on: connection) }
        try send(sql, on: connection)
        try record?.write(on: connection)
        return StoreBatchResult(objectIDs: ids, changes: SavedObjectIDs(deleted: ids))
      }
      let slots = recorded == nil ? [:] : try changedSlots(assignments, where: condition, on: connection)
      let rows = try send(sql, on: connection)
      let keys = Set((0..<rows.count).map { rows.integer($0, 0) })
      let changed = ids.filter { keys.contains($0.key) }
      if let recorded {
        try HistoryRecord(updated: changed, slots, request, author: author, in: recorded).write(on: connection)
      }
      return StoreBatchResult(
        written: changed.count, objectIDs: ids, changes: SavedObjectIDs(updated: changed))
    }

    /// The attributes whose values an update will change, by the keys of locked rows. The history names them.
    private func changedSlots(
      _ assignments: [Assignment], where condition: SQLFragment, on connection: PostgreSQLConnection
    ) throws -> [Int64: Set<Slot>] {
      let columns = [SQLFragment("t0.Z_PK")] + assignments.map { "(" + $0.difference + ")" }
      let sql = "SELECT " + columns.joined(", ") + " FROM \(identifier(kinds[0].table)) t0 WHERE " + condition
      let rows = try send(sql, on: connection)
      return Dictionary(
        uniqueKeysWithValues: (0..<rows.count).map { row in
          let changed = assignments.indices.filter { rows.integer(row, $0 + 1) == 1 }
          return (rows.integer(row, 0), Set(changed.map { assignments[$0].slot }))
        })
    }

    /// The author of the change in the history.
    private var author: String? { request.author ?? recorded?.options.transactionAuthor }

    @discardableResult
    private func send(_ sql: SQLFragment, on connection: PostgreSQLConnection) throws -> ResultRows {
      try connection.query(Dialect.postgreSQL.statement(sql.text), Parameters(sql.values))
    }

    /// The statement. The version rises of rows whose values change. With `countsAll` the statement also writes, and
    /// counts, rows whose values stay.
    private func statement(_ condition: SQLFragment, countsAll: Bool) -> SQLFragment {
      let table = identifier(kinds[0].table)
      guard let assignments else { return "DELETE FROM \(table) t0 WHERE " + condition }
      let difference = assignments.map(\.difference).joined(" OR ")
      let growth = countsAll ? "CASE WHEN " + difference + " THEN 1 ELSE 0 END" : SQLFragment("1")
      let version = "Z_OPT = COALESCE(t0.Z_OPT, 0) + " + growth
      return "UPDATE \(table) t0 SET " + (assignments.map(\.setting) + [version]).joined(", ") + " WHERE "
        + (countsAll ? condition : "(" + condition + ") AND (" + difference + ")")
    }
  }

  extension PostgreSQLStore {
    /// Executes a batch request in SQL, in a transaction of its own.
    ///
    /// Returns nil for all other requests, which the graph then executes: rows from which attributes are derived,
    /// unique values, decimals, other expressions, and rows to which other rows refer.
    public func execute(_ request: StoreBatchRequest) throws -> StoreBatchResult? {
      let change: SetChange?
      do { change = try SetChange(request, in: self) } catch is Untranslatable { return nil }
      guard let change else { return nil }
      let session = try PostgreSQLSaveSession(self, author: nil)
      guard let result = try session.run(change) else {
        session.abort()
        return nil
      }
      try session.commit()
      return result
    }
  }

  extension Value {
    /// Whether equality in SQL is equality of values, and PostgreSQL takes the value.
    fileprivate var isExactInSQL: Bool {
      switch self {
      // SQL has one zero, the graph has two.
      case .double(let number): number.isFinite && number != 0
      case .string(let text): !text.utf8.contains(0)
      case .list, .map, .object, .objectID, .decimal: false
      default: true
      }
    }
  }

  extension ColumnKind {
    /// The values of an integer column; nil for other columns.
    fileprivate var range: ClosedRange<Int64>? {
      switch self {
      case .integer16: Int64(Int16.min)...Int64(Int16.max)
      case .integer32: Int64(Int32.min)...Int64(Int32.max)
      case .integer64: Int64.min...Int64.max
      default: nil
      }
    }
  }
#endif
