import MoonbaseModel
import MoonbaseModelFormats
import MoonbaseSQL
import MoonbaseSQLite

/// Copies the rows of an old entity into the table of the new entity.
struct RowMigration {
  let migration: EntityMigration
  let map: MigrationMap
  let conversions: ColumnConversions
  let connection: Connection

  /// The columns of the statement, with their expressions and parameter values.
  struct Columns {
    var names = ["Z_PK", "Z_ENT", "Z_OPT"]
    var expressions: [String] = []
    var values: [Value] = []
    var windows: [String] = []

    mutating func add(_ name: String, _ expression: String) {
      names.append(identifier(name))
      expressions.append(expression)
    }

    /// Adds an expression that is computed over all rows of the old table, not only over the rows of one entity.
    /// Returns the name of its column in `source`.
    mutating func window(_ expression: String) -> String {
      windows.append(expression)
      return "moonbase_window_\(windows.count)"
    }

    /// The old table, with the columns for expressions over all rows.
    func source(_ table: String) -> String {
      if windows.isEmpty { return table }
      let terms = windows.enumerated().map { "\($1) AS moonbase_window_\($0 + 1)" }.joined(separator: ", ")
      return "(SELECT *, \(terms) FROM \(table))"
    }

    mutating func parameter(_ value: Value) -> String {
      values.append(value)
      return "?\(values.count)"
    }

    func bind(to statement: Statement) {
      for (index, value) in values.enumerated() { SQLValue.bind(value, at: Int32(index + 1), to: statement) }
    }
  }

  /// Returns the number of rows.
  func run() throws -> Int {
    var columns = Columns(expressions: ["Z_PK", "\(migration.new.number)", "Z_OPT"])
    for property in migration.new.entity.properties where !property.isTransient {
      switch migration.new.slots[property.slot] {
      case .attribute(let column, let kind):
        columns.add(column, try attribute(property, kind: kind, in: &columns))
      case .composite(let composite): try add(property, composite, to: &columns)
      case .toOne(let toOne): add(property, toOne, to: &columns)
      case .none, .foreignKey, .join, .lost: break
      }
    }
    let statement = try connection.statement(
      "INSERT INTO \(identifier(migration.new.table)) (\(columns.names.joined(separator: ", "))) "
        + "SELECT \(columns.expressions.joined(separator: ", ")) FROM \(columns.source(map.oldTable(migration.old.table))) "
        + "WHERE \(map.condition(migration.old))")
    columns.bind(to: statement)
    try statement.run()
    return connection.changes
  }

  // MARK: Attributes

  /// The SQL expression for the new value of an attribute.
  private func attribute(_ property: ResolvedProperty, kind: ColumnKind, in columns: inout Columns) throws -> String {
    let initial = property.attribute?.defaultValue ?? .null
    if case .value(let value)? = migration.source(of: property) {
      return value.isNull ? "NULL" : columns.parameter(try conversions.stored(value, as: kind))
    }
    guard case .attribute(let column, _)? = migration.origin(of: property)?.slot else { return "NULL" }
    let kept =
      try ColumnConversion(property, of: migration).map { try conversions.converts($0, on: connection) }
      ?? identifier(column)
    guard !property.isOptional, !initial.isNull else { return kept }
    return "IFNULL(\(kept), \(columns.parameter(try conversions.stored(initial, as: kind))))"
  }

  /// Adds the elements of a composite, each from its old column. If a required composite has no value, its whole
  /// default is used.
  private func add(_ property: ResolvedProperty, _ composite: CompositeLayout, to columns: inout Columns) throws {
    let kept = CompositeMigration(property, of: migration)
    if case .value(let value)? = migration.source(of: property) {
      for leaf in composite.leaves { columns.add(leaf.column, literal(value.element(at: leaf.path), in: &columns)) }
      return
    }
    let expressions = try composite.leaves.map { leaf in try kept.flatMap { try expression(for: leaf, of: $0) } }
    let initial = property.isOptional ? .null : property.attribute?.defaultValue ?? .null
    let presence = CompositeLayout.presence(of: expressions.compactMap(\.self))
    for (leaf, expression) in zip(composite.leaves, expressions) {
      let kept = expression ?? "NULL"
      columns.add(
        leaf.column,
        initial.isNull
          ? kept
          : "CASE WHEN \(presence) THEN \(kept) ELSE \(literal(initial.element(at: leaf.path), in: &columns)) END")
    }
  }

  /// The SQL expression for an element of a composite; nil for a new element.
  private func expression(for leaf: CompositeLayout.Leaf, of composite: CompositeMigration) throws -> String? {
    if let conversion = composite.conversion(of: leaf) { return try conversions.converts(conversion, on: connection) }
    return composite.origin(of: leaf).map { identifier($0.column) }
  }

  private func literal(_ value: Value, in columns: inout Columns) -> String {
    value.isNull ? "NULL" : columns.parameter(value)
  }

  // MARK: To-one relationships

  /// Adds a destination that is copied. Any destination that is not copied is filled in after all rows are migrated.
  private func add(_ property: ResolvedProperty, _ toOne: ToOneLayout, to columns: inout Columns) {
    guard let before = map.isCopied(property, of: migration) else { return }
    let numbers = map.destinationNumbers(from: before.destination, to: toOne.destination)
    let number = number(before)
    let key = identifier(before.column)
    columns.add(toOne.column, destination(before, numbers))
    if let column = toOne.entityColumn {
      let cases = numbers.map { "WHEN \($0.old) THEN \($0.new.map(String.init) ?? "NULL")" }.joined(separator: " ")
      let other = map.new.number(toOne.destination)
      columns.add(column, "CASE WHEN \(key) IS NULL THEN NULL ELSE CASE \(number) \(cases) ELSE \(other) END END")
    }
    if let column = toOne.orderColumn {
      // The list may have members of several entities.
      columns.add(
        column,
        before.orderColumn.map(identifier)
          ?? columns.window(OrderKeys.numbering(of: "Z_PK", by: key, where: key)))
    }
  }

  /// The key of the destination, or NULL if the destination's entity is removed.
  private func destination(_ before: ToOneLayout, _ numbers: [(old: Int64, new: Int64?)]) -> String {
    let gone = numbers.filter { $0.new == nil }.map { "\($0.old)" }
    let key = identifier(before.column)
    return gone.isEmpty
      ? key : "CASE WHEN \(number(before)) IN (\(gone.joined(separator: ", "))) THEN NULL ELSE \(key) END"
  }

  // MARK: Looking ahead

  /// The new contents of a property's column, if the old row determines them; otherwise nil.
  func expression(for property: ResolvedProperty, in columns: inout Columns) throws -> String? {
    switch migration.new.slots[property.slot] {
    case .attribute(_, .externalData), .composite, .none, .foreignKey, .join, .lost: return nil
    case .attribute(_, let kind):
      return property.attribute?.derivationExpression == nil
        ? try attribute(property, kind: kind, in: &columns) : nil
    case .toOne(let toOne):
      guard let before = map.isCopied(property, of: migration) else { return nil }
      return destination(before, map.destinationNumbers(from: before.destination, to: toOne.destination))
    }
  }

  /// The number of the destination's entity in the old file.
  private func number(_ toOne: ToOneLayout) -> String {
    if let column = toOne.entityColumn { return identifier(column) }
    let destination = map.old.model.entities[toOne.destination]
    guard destination.hasSubentities, let table = map.old.entities[toOne.destination]?.table else {
      return "\(map.old.number(toOne.destination))"
    }
    return "(SELECT d.Z_ENT FROM \(map.oldTable(table)) d WHERE d.Z_PK = \(identifier(toOne.column)))"
  }
}

extension OrderKeys {
  /// Positions for members of lists that had none, in the order of their keys.
  static func numbering(of member: String, by owner: String, where condition: String) -> String {
    "CASE WHEN \(condition) IS NOT NULL THEN \(gap) * ROW_NUMBER() OVER (PARTITION BY \(owner) ORDER BY \(member)) END"
  }
}
