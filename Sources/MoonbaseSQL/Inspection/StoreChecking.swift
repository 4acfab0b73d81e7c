package import MoonbaseGraph
package import MoonbaseModel
import MoonbasePlatform

/// A row of a check's query, read by the numbers of its columns.
package protocol CheckedRow {
  /// Whether a column is NULL.
  func isNull(_ column: Int) -> Bool
  /// A column as an integer.
  func integer(_ column: Int) -> Int64
  /// A column as a text.
  func text(_ column: Int) -> String
}

/// The decoding of an attribute or a composite from a row of a check.
package struct ValueDecoder<Row: CheckedRow> {
  /// The attribute or composite.
  let property: ResolvedProperty
  /// Sets the value in a page. Returns false for a value that is not checked further. Throws `ColumnMismatch` for a
  /// value of another type than the property's.
  let decode: (Row, RowPageBuilder) throws -> Bool

  /// Makes a decoder of a property.
  package init(_ property: ResolvedProperty, decode: @escaping (Row, RowPageBuilder) throws -> Bool) {
    (self.property, self.decode) = (property, decode)
  }
}

/// The checks of a store that are queries on any engine.
///
/// The check of an engine runs the queries and adds its own checks: `StoreCheck` for files, `ServerCheck` for servers.
package protocol StoreChecking {
  associatedtype Row: CheckedRow
  /// The tables and columns of the model in the store.
  var layout: StoreLayout { get }
  /// The number of the store in object IDs.
  var number: StoreNumber { get }
  /// The dialect of the queries.
  var dialect: Dialect { get }
  /// The tables of the history whose keys `Z_PRIMARYKEY` counts, with their numbers there.
  var historyTables: [(number: Int64, table: String)] { get throws }
  /// Calls `body` with each row of a query.
  func forEachRow(of sql: String, _ body: (Row) throws -> Void) throws
  /// Reports a finding.
  func tell(_ finding: StoreFinding) throws
}

extension StoreChecking {
  /// The first column of the first row of a query; nil for no row and for NULL.
  package func integer(_ sql: String) throws -> Int64? {
    var result: Int64?
    var isFirst = true
    try forEachRow(of: sql) { row in
      if isFirst, !row.isNull(0) { result = row.integer(0) }
      isFirst = false
    }
    return result
  }

  /// The number of rows of an entity itself.
  package func count(of entity: EntityLayout) throws -> Int {
    Int(try integer("SELECT COUNT(*) FROM \(identifier(entity.table)) WHERE Z_ENT = \(entity.number)") ?? 0)
  }

  /// The ID of the object whose key is the first column of a row.
  package func id(_ row: Row, _ entity: EntityLayout) -> ManagedObjectID {
    ManagedObjectID(store: number, entity: entity.entity.symbol, key: row.integer(0))
  }

  /// Whether any table of objects or links has rows.
  package func hasRows() throws -> Bool {
    try (layout.tables.map(\.name) + layout.joins.map(\.table)).contains { table in
      try integer("SELECT 1 FROM \(identifier(table)) LIMIT 1") != nil
    }
  }

  // MARK: Rows

  /// Finds rows whose entity does not belong to their table, or whose version is invalid or cannot increase. Once for
  /// each table, by two queries.
  package func checkNumbers(of root: EntityLayout) throws {
    let numbers = layout.subtree(of: root.entity).map { "\($0.number)" }.joined(separator: ", ")
    let isNoKey = dialect.hasColumnTypes ? "" : " OR TYPEOF(Z_PK) <> 'integer'"
    let wrongEntity = "Z_ENT IS NULL OR Z_ENT NOT IN (\(numbers))\(isNoKey)"
    for (column, condition, what) in [
      ("Z_ENT", wrongEntity, "no entity of this table"),
      ("Z_OPT", "NOT (\(dialect.versionMayRise))", "no version, or none can follow it: set it to 1"),
    ] {
      let sql = "SELECT Z_PK, \(column) FROM \(identifier(root.table)) t0 WHERE \(condition) ORDER BY Z_PK"
      try forEachRow(of: sql) { row in
        try tell(
          StoreFinding(
            kind: .row, place: "\(root.table) \(row.text(0))",
            message: "\(column) is \(row.isNull(1) ? "NULL" : row.text(1)), which is \(what)"))
      }
    }
  }

  /// Decodes the properties of a row as a fetch does, and checks the values by the model's rules. Reports each value of
  /// another type than its property's.
  package func checkValues(of row: Row, _ decoders: [ValueDecoder<Row>], _ entity: EntityLayout) throws {
    let page = RowPageBuilder(
      number, entity: entity.entity.symbol, slotCount: entity.entity.properties.count, capacity: 1)
    page.beginRow(key: row.integer(0), version: 1)
    var readable: [ResolvedProperty] = []
    for decoder in decoders {
      do {
        if try decoder.decode(row, page) { readable.append(decoder.property) }
      } catch let mismatch as ColumnMismatch {
        try tellMismatch(mismatch, of: decoder.property, row, entity)
      }
    }
    page.endRow()
    try checkRules(Snapshot(page.finish(), at: 0).values, of: readable, row, entity)
  }

  /// Reports a stored value that does not fit the attribute's type. No repair sets such a value.
  private func tellMismatch(
    _ mismatch: ColumnMismatch, of property: ResolvedProperty, _ row: Row, _ entity: EntityLayout
  ) throws {
    let advice = mismatch.element.isEmpty ? property.derivationAdvice.map { "; \($0)" } ?? "" : ""
    try tell(
      StoreFinding(
        kind: .value, of: id(row, entity), in: entity.table,
        message: "\(mismatch.name(of: property.name)) \(mismatch.description)\(advice)"))
  }

  /// Checks the values of a row against the model's rules. A missing required value is a finding too.
  private func checkRules(
    _ values: Snapshot.Values, of properties: [ResolvedProperty], _ row: Row, _ entity: EntityLayout
  ) throws {
    for property in properties {
      let value = values[property.slot]
      // Values in files are not read for this check.
      if case .object = value { continue }
      var messages = try property.validate(value).map(\.message)
      if value.isNull, !property.isOptional { messages = ["is required and has no value"] }
      for message in messages {
        try tell(
          StoreFinding(kind: .rule, of: id(row, entity), in: entity.table, message: "\(property.name) \(message)"))
      }
    }
  }

  // MARK: Derived attributes

  /// Reports a stored derived value that differs from the result of its derivation.
  ///
  /// `fits` says whether the attribute's type holds the derived value: only such a value is repaired.
  package func tellDerived(
    _ attribute: ResolvedProperty, holds stored: String, gives derived: String, fits: Bool, of object: ManagedObjectID,
    _ entity: EntityLayout
  ) throws {
    let expression = attribute.attribute?.derivationExpression ?? ""
    let advice = attribute.derivedMisfitAdvice.map { fits ? "" : ", which is \($0)" } ?? ""
    try tell(
      StoreFinding(
        kind: .derived, of: object, in: entity.table,
        message: "\(attribute.name) holds \(stored), and \(expression) gives \(derived)\(advice)",
        repair: fits ? .file : .none))
  }

  // MARK: Ordered relationships

  /// Finds lists in which members have no position or share one, so that their order is random.
  package func checkOrder() throws {
    for places in OrderedPlaces.all(of: layout, dialect: dialect) {
      try forEachRow(of: places.unordered) { row in
        try HostWork.charge(1 + Int(row.integer(1)))
        try tell(
          StoreFinding(
            kind: .order, of: id(row, places.owner), in: places.owner.table,
            message: "\(places.property.name): of \(row.integer(1)) objects \(row.integer(2)) "
              + "\(row.integer(2) == 1 ? "has" : "have") no place of \(row.integer(2) == 1 ? "its" : "their") own",
            repair: .file))
      }
    }
  }
}
