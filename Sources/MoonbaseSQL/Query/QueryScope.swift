import MoonbaseModel

/// A table in a FROM clause, with the to-one relationships that were followed from it.
final class QueryScope {
  /// The table's name in the query; empty where its columns stand alone.
  let alias: String
  let layout: EntityLayout
  /// Whether rows may be of subentities.
  let includesSubentities: Bool
  /// Whether several rows of a query lead to the same row here.
  var isShared = false
  /// Whether the query has one row here or a few: what is asked for each then is better than what is found for all at once.
  let isNarrow: Bool
  /// Whether a row may be missing here: a to-one relationship leads to the table.
  let isOptional: Bool
  private(set) var joins = ""
  private var joined: [String: QueryScope] = [:]
  private weak var base: QueryScope?

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

  func column(_ name: String) -> String { alias.isEmpty ? identifier(name) : "\(alias).\(identifier(name))" }

  /// The destination's row, joined once however often it is asked for.
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

  /// The table with what is joined to it.
  var from: String { "\(identifier(layout.table)) \(alias)\(joins)" }
}
