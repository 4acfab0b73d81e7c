import MoonbaseModel
import MoonbaseModelFormats
import MoonbaseSQL
import MoonbaseSQLite
import MoonbaseSQLiteStore

/// Copies the rows of an old entity into the table of the new entity.
///
/// Runs one `INSERT … SELECT` for each entity, so that rows never pass through Swift except for converted values. The
/// keys `Z_PK` and the versions `Z_OPT` stay, and `Z_ENT` becomes the new number.
struct RowMigration {
  /// The old and the new layout, with the mapping.
  let migration: EntityMigration
  /// All entities, for destinations of relationships.
  let map: MigrationMap
  /// Functions for attributes whose type or storage changes.
  let conversions: ColumnConversions
  /// The connection of the migration's transaction.
  let connection: Connection

  /// The columns of the statement, with their expressions and parameter values.
  ///
  /// Grows property by property; names and expressions stay in step.
  struct Columns {
    /// The quoted columns of the new table.
    var names = ["Z_PK", "Z_ENT", "Z_OPT"]
    /// The new values, in the order of `names`.
    var expressions: [String] = []
    /// The values of the parameters `?1`, `?2` and so on.
    var values: [Value] = []
    /// The expressions over all rows of the old table.
    var windows: [String] = []

    /// `name` is unquoted; `expression` may refer to columns of the old table.
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

    /// Adds a constant and returns its place, such as `?3`.
    mutating func parameter(_ value: Value) -> String {
      values.append(value)
      return "?\(values.count)"
    }

    /// Call this before the statement runs.
    func bind(to statement: Statement) {
      for (index, value) in values.enumerated() { SQLValue.bind(value, at: Int32(index + 1), to: statement) }
    }
  }

  /// Returns the number of rows.
  ///
  /// Copies the rows and returns their number. `StoreRewriting` compares it with the plan, so that no row is lost
  /// unnoticed.
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

  /// The SQL expression for the new value of an attribute. `NULL` for an attribute without an origin or default value.
  /// Default values are used only for required attributes.
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
  /// default is used. Optional composites stay missing.
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

  /// The SQL expression for an element of a composite; nil for a new element. A leaf whose type changes is converted by
  /// a function.
  private func expression(for leaf: CompositeLayout.Leaf, of composite: CompositeMigration) throws -> String? {
    if let conversion = composite.conversion(of: leaf) { return try conversions.converts(conversion, on: connection) }
    return composite.origin(of: leaf).map { identifier($0.column) }
  }

  /// A constant as SQL: `NULL` or a parameter.
  private func literal(_ value: Value, in columns: inout Columns) -> String {
    value.isNull ? "NULL" : columns.parameter(value)
  }

  // MARK: To-one relationships

  /// Adds a destination that is copied. Any destination that is not copied is filled in after all rows are migrated. A
  /// relationship with a column of entity numbers gets the new numbers, and a new ordered inverse gets positions.
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

  /// The key of the destination, or NULL if the destination's entity is removed. `numbers` are the pairs of old and new
  /// entity numbers that the column may refer to.
  private func destination(_ before: ToOneLayout, _ numbers: [(old: Int64, new: Int64?)]) -> String {
    let gone = numbers.filter { $0.new == nil }.map { "\($0.old)" }
    let key = identifier(before.column)
    return gone.isEmpty
      ? key : "CASE WHEN \(number(before)) IN (\(gone.joined(separator: ", "))) THEN NULL ELSE \(key) END"
  }

  // MARK: Looking ahead

  /// The new contents of a property's column, if the old row determines them; otherwise nil. Used by `UniquenessCheck`,
  /// which reads the old file. Nil for values in files, composites, derived attributes and links that other rows
  /// determine.
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

  /// The number of the destination's entity in the old file. As an SQL expression: a column, a constant, or a subquery
  /// if the destination has subentities.
  private func number(_ toOne: ToOneLayout) -> String {
    if let column = toOne.entityColumn { return identifier(column) }
    let destination = map.old.model.entities[toOne.destination]
    guard destination.hasSubentities, let table = map.old.entities[toOne.destination]?.table else {
      return "\(map.old.number(toOne.destination))"
    }
    return "(SELECT d.Z_ENT FROM \(map.oldTable(table)) d WHERE d.Z_PK = \(identifier(toOne.column)))"
  }
}

/// Positions in lists that get an order by a migration.
extension OrderKeys {
  /// Positions for members of lists that had none, in the order of their keys. `condition` is the expression that is
  /// not null for members of a list.
  static func numbering(of member: String, by owner: String, where condition: String) -> String {
    "CASE WHEN \(condition) IS NOT NULL THEN \(gap) * ROW_NUMBER() OVER (PARTITION BY \(owner) ORDER BY \(member)) END"
  }
}
