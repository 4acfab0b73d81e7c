import MoonbaseGraph
import MoonbaseModel

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Translates the predicates and sort keys of a query into SQL with the same meaning, or throws `Untranslatable`.
///
/// SQL's three-valued logic applies everywhere: comparing a null attribute with a value is no match, under NOT too.
/// `= NULL` tests for null. Relationships compare with NULL as plain values.
///
/// A translator serves a single query: it owns the scopes and aliases, and adds joins to them while it translates. A
/// part that SQL would evaluate differently throws, so that the planner leaves that part to the context; the translator
/// never approximates. The files `QueryTranslator+….swift` contain comparisons, expressions, key paths and number
/// levels.
final class QueryTranslator {
  /// The tables and columns of the store.
  let layout: StoreLayout
  let dialect: Dialect
  /// The store of the query. Objects of another store never match.
  let store: StoreNumber
  /// Pure derived attributes of scripts that SQL can call; nil without scripts.
  let functions: (any PureFunctionProvider)?
  /// The table of the query's entity, with the alias `t0`.
  let root: QueryScope
  /// The number of aliases in use; `t0` is the first.
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

  /// `isNarrow` overrides the estimate whether the query finds few rows. Throws if the store lacks the entity's table.
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

  /// A translator for the columns of one table, without a query. Used for index definitions: columns have no alias, and
  /// constants become text.
  init(columnsOf entity: EntityLayout, layout: StoreLayout, dialect: Dialect) {
    (self.layout, self.dialect, functions) = (layout, dialect, nil)
    store = StoreNumber("")
    root = QueryScope("", layout: entity, includesSubentities: true)
    current = root
    writesConstants = true
  }

  /// An unused alias: `t1`, `t2` and so on.
  func newAlias() -> String {
    defer { aliases += 1 }
    return "t\(aliases)"
  }

  // MARK: Predicates

  /// The condition of a predicate. An empty AND is true, an empty OR is false. A double NOT is removed.
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

  /// Conditions joined by a word.
  private func combine(_ parts: [Predicate], word: String, empty: String) throws -> SQLFragment {
    if parts.isEmpty { return SQLFragment(empty) }
    if parts.count == 1 { return try translate(parts[0]) }
    return try parts.map { try translate($0) }.combined(word)
  }

  // MARK: Sorting

  /// Strings sort by code point, or by the folded code points. The context sorts by locale.
  ///
  /// For example `t0.ZNAME ASC`, or `t0.ZNAME COLLATE "C" ASC` with PostgreSQL. Throws `Untranslatable` for orders of a
  /// language, and for values without an order.
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
