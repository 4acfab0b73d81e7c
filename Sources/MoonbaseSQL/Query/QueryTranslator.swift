import MoonbaseGraph
import MoonbaseModel

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Translates the predicates and sort keys of a query into SQL with the same meaning, or throws `Untranslatable`.
///
/// SQL's three-valued logic applies everywhere: comparing a null attribute with a value is no match, under NOT too.
/// `= NULL` tests for null. Relationships compare with NULL as plain values.
final class QueryTranslator {
  let layout: StoreLayout
  let dialect: Dialect
  let store: StoreNumber
  let functions: (any PureFunctionProvider)?
  let root: QueryScope
  private var aliases = 1
  /// The scopes of `SUBQUERY` variables.
  var variables: [String: QueryScope] = [:]
  /// The columns that a condition on groups refers to by position. Set only while such a condition is translated.
  var columnTerms: [SQLTerm]?
  /// The scope of `SELF` and of plain key paths.
  var current: QueryScope
  /// Whether constants become part of the text, as in index definitions, which have no parameters.
  private(set) var writesConstants = false
  /// Whether a derived column is computed. Values that are no numbers then count as SQLite's bit operators convert
  /// them, so that a damaged row does not fail the saves of others.
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

  /// A translator for the columns of one table, without a query.
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

  /// Strings sort by code point, or by the folded code points. The context sorts by locale.
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
