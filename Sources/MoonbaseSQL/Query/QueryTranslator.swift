import MoonbaseGraph
import MoonbaseModel

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Translates predicates and sort keys of one query into SQL with the same meaning, or refuses.
///
/// SQL's three-valued logic is the rule everywhere: comparing a missing attribute with a value is no match, under NOT
/// too;
/// `= NULL` asks for absence; relationships compare with NULL as plain values.
final class QueryTranslator {
  let layout: StoreLayout
  let dialect: Dialect
  let store: StoreNumber
  let functions: (any PureFunctionProvider)?
  let root: QueryScope
  private var aliases = 1
  /// The scopes of `SUBQUERY` variables.
  var variables: [String: QueryScope] = [:]
  /// While a condition on groups is translated: the columns, by whose places it calls them.
  var columnTerms: [SQLTerm]?
  /// What `SELF` and plain key paths start from.
  var current: QueryScope
  /// Whether constants stand in the text, as in what a file keeps: no parameter has a value there.
  private(set) var writesConstants = false
  /// Whether a column is derived: what is no number in those that it adds up counts as SQLite's operators on bits take it, so that one damaged row does
  /// not fail the saves of others.
  var derives = false

  init(
    _ query: StoreQuery, layout: StoreLayout, store: StoreNumber, dialect: Dialect, isNarrow: Bool? = nil
  ) throws {
    self.layout = layout
    self.dialect = dialect
    self.store = store
    functions = query.functions
    root = QueryScope(
      "t0", layout: try layout.layout(query.entity), includesSubentities: query.includesSubentities,
      isNarrow: isNarrow ?? query.isNarrow)
    current = root
  }

  /// For the columns of one table, without a query.
  init(columnsOf entity: EntityLayout, layout: StoreLayout, dialect: Dialect) {
    (self.layout, self.dialect, functions) = (layout, dialect, nil)
    store = StoreNumber("")
    root = QueryScope("", layout: entity, includesSubentities: true)
    current = root
    writesConstants = true
  }

  func newAlias() -> String {
    defer { aliases += 1 }
    return "t\(aliases)"
  }

  // MARK: Predicates

  func translate(_ predicate: Predicate) throws -> SQLFragment {
    switch predicate {
    case .constant(let truth): SQLFragment(dialect.truth(truth))
    case .not(.not(let inner)): try translate(inner)
    case .not(let inner): "NOT " + (try translate(inner).parenthesized)
    case .and(let parts): try combine(parts, word: "AND", empty: dialect.truth(true))
    case .or(let parts): try combine(parts, word: "OR", empty: dialect.truth(false))
    case .comparison(let comparison): try translate(comparison)
    }
  }

  private func combine(_ parts: [Predicate], word: String, empty: String) throws -> SQLFragment {
    if parts.isEmpty { return SQLFragment(empty) }
    if parts.count == 1 { return try translate(parts[0]) }
    return try parts.map { try translate($0) }.combined(word)
  }

  // MARK: Sorting

  /// Strings sort by code point, or folded by it; a person's order is left to the context.
  func translate(_ key: SortDescriptor) throws -> SQLFragment {
    let term = try translate(Expression.keyPath(key.keyPath))
    var fragment = term.fragment
    switch (term.kind, key.comparator) {
    case (.opaque, _), (.null, _), (.object, _): throw Untranslatable("\(key.keyPath) has no order in a store")
    case (.string, .compare): fragment = dialect.ordered(fragment)
    case (.string, .caseInsensitiveCompare): fragment = try fold(fragment, options: .caseInsensitive)
    case (.string, _): throw Untranslatable("the order of \(key.keyPath) is that of a person's language")
    case (.number, _), (.decimal, _), (.date, _), (.uuid, _), (.uri, _), (.data, _): break
    }
    return fragment + dialect.direction(ascending: key.ascending)
  }
}
