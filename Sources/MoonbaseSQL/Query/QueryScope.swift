import MoonbaseModel

/// A table in a FROM clause, with the to-one relationships that are joined to it.
///
/// A query begins with one scope for its entity; to-one paths add joins to it, and a to-many relationship begins a
/// subquery with a scope of its own. A scope lives as long as the translation.
final class QueryScope {
  /// The alias of the table. Empty for columns without a query.
  let alias: String
  /// The entity of the rows, with its columns.
  let layout: EntityLayout
  /// Whether rows may be of subentities.
  let includesSubentities: Bool
  /// Whether several rows of the query may share the same row of this table.
  var isShared = false
  /// Whether the query has a single row or few rows here. A condition is then evaluated for each row instead of for all
  /// rows at once.
  let isNarrow: Bool
  /// Whether the row may be missing, because the table is the destination of a to-one relationship.
  let isOptional: Bool
  /// The LEFT JOIN clauses, in the order in which paths were followed.
  private(set) var joins = ""
  /// The destinations by the column of the relationship.
  private var joined: [String: QueryScope] = [:]
  /// The scope of the FROM clause that has the joins; nil for that scope itself.
  private weak var base: QueryScope?

  /// A scope with `base` is a joined destination.
  init(
    _ alias: String, layout: EntityLayout, includesSubentities: Bool, isNarrow: Bool = false, base: QueryScope? = nil
  ) {
    self.isNarrow = isNarrow
    isOptional = base != nil
    self.alias = alias
    self.layout = layout
    self.includesSubentities = includesSubentities
    self.base = base
  }

  /// For example `t0.ZNAME`, or `ZNAME` without an alias.
  func column(_ name: String) -> String { alias.isEmpty ? identifier(name) : "\(alias).\(identifier(name))" }

  /// The scope of a destination, joined once for all uses. A LEFT JOIN keeps rows without a destination, whose columns
  /// are then NULL, as a missing value in memory.
  func follow(_ toOne: ToOneLayout, to destination: EntityLayout, alias: () -> String) -> QueryScope {
    if let known = joined[toOne.column] { return known }
    let scope = QueryScope(
      alias(), layout: destination, includesSubentities: true, isNarrow: isNarrow, base: base ?? self)
    scope.isShared = !isNarrow
    joined[toOne.column] = scope
    (base ?? self).joins +=
      " LEFT JOIN \(identifier(destination.table)) \(scope.alias) ON \(scope.alias).Z_PK = \(column(toOne.column))"
    return scope
  }

  /// The table with its joins. For example `ZPERSON t0 LEFT JOIN ZDEPARTMENT t1 ON t1.Z_PK = t0.ZDEPARTMENT`.
  var from: String { "\(identifier(layout.table)) \(alias)\(joins)" }
}
