import MoonbaseModel

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

extension QueryTranslator {
  typealias Comparison = Predicate.Comparison

  func translate(_ comparison: Comparison) throws -> SQLFragment {
    if comparison.modifier != .direct { return try quantified(comparison) }
    switch comparison.operator {
    case .in: return try membership(comparison)
    case .between: return try between(comparison)
    case .contains:
      if let path = try toManyPath(comparison.left) {
        return try exists(path) { try compare($0, .equal, try translate(comparison.right), []) }
      }
    case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .beginsWith, .endsWith,
      .like,
      .matches:
      break
    }
    let left = try translate(comparison.left)
    return try compare(left, comparison.operator, try translate(comparison.right), comparison.options)
  }

  // MARK: Quantifiers

  /// `ANY` is an EXISTS; `ALL` says that none exists for which the comparison does not hold.
  private func quantified(_ comparison: Comparison) throws -> SQLFragment {
    guard let path = try toManyPath(comparison.left) else { throw Untranslatable() }
    let isAll = comparison.modifier == .all
    let found = try exists(path) { element in
      let condition = try compareElement(element, comparison)
      return isAll ? parenthesized(condition) + " IS NOT TRUE" : condition
    }
    return isAll ? "NOT " + found : found
  }

  private func compareElement(_ element: SQLTerm, _ comparison: Comparison) throws -> SQLFragment {
    switch comparison.operator {
    case .in: try membership(element, comparison.right, comparison.options)
    case .between: try between(element, comparison.right)
    case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .contains, .beginsWith,
      .endsWith, .like, .matches:
      try compare(element, comparison.operator, try translate(comparison.right), comparison.options)
    }
  }

  // MARK: Two terms

  func compare(
    _ left: SQLTerm, _ comparator: Comparison.Operator, _ right: SQLTerm, _ options: Comparison.Options
  ) throws -> SQLFragment {
    if left.kind == .null || right.kind == .null { return try compareWithNull(left, comparator, right) }
    switch comparator {
    case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      if case .object = left.kind { return try compareObjects(left, comparator, right) }
      guard left.kind.compares(with: right.kind) else { throw Untranslatable() }
      let sides = [left, right].map { $0.kind == .string ? fold($0.fragment, options) : $0.fragment }
      return sides[0] + " \(comparator.sql) " + sides[1]
    case .contains, .beginsWith, .endsWith, .like, .matches: return try match(left, comparator, right, options)
    case .in, .between: throw Untranslatable()
    }
  }

  private func fold(_ text: SQLFragment, _ options: Comparison.Options) -> SQLFragment {
    options.isEmpty ? text : PredicateFunctions.fold(text, options)
  }

  private func compareWithNull(_ left: SQLTerm, _ comparator: Comparison.Operator, _ right: SQLTerm) throws
    -> SQLFragment
  {
    let other = left.kind == .null ? right : left
    return switch comparator {
    case .equal: other.fragment + " IS NULL"
    case .notEqual: other.fragment + " IS NOT NULL"
    default: throw Untranslatable()
    }
  }

  /// Relationships compare with NULL as plain values; keys of different tables never meet.
  private func compareObjects(_ left: SQLTerm, _ comparator: Comparison.Operator, _ right: SQLTerm) throws
    -> SQLFragment
  {
    guard case .object(let one) = left.kind, case .object(let other) = right.kind else { throw Untranslatable() }
    let isSameTable = layout.model.entities[one].root == layout.model.entities[other].root
    guard isSameTable else { throw Untranslatable() }
    let isPresent = left.isPresent && right.isPresent
    return switch comparator {
    case .equal: left.fragment + (isPresent ? " = " : " IS ") + right.fragment
    case .notEqual: left.fragment + (isPresent ? " <> " : " IS NOT ") + right.fragment
    default: throw Untranslatable()
    }
  }

  /// String operators, evaluated by the same code as in memory.
  private func match(
    _ left: SQLTerm, _ comparator: Comparison.Operator, _ right: SQLTerm, _ options: Comparison.Options
  ) throws -> SQLFragment {
    guard left.kind == .string, right.kind == .string else { throw Untranslatable() }
    guard let call = PredicateFunctions.call(comparator, options, left.fragment, right.fragment) else {
      throw Untranslatable()
    }
    return call
  }

  // MARK: IN and BETWEEN

  private func membership(_ comparison: Comparison) throws -> SQLFragment {
    if let path = try toManyPath(comparison.right) {
      let left = try translate(comparison.left)
      return try exists(path) { try compare($0, .equal, left, comparison.options) }
    }
    return try membership(try translate(comparison.left), comparison.right, comparison.options)
  }

  private func membership(_ left: SQLTerm, _ right: Expression, _ options: Comparison.Options) throws -> SQLFragment {
    let elements = try elements(of: right)
    let hasNull = elements.contains { $0.kind == .null }
    let values = elements.filter { $0.kind != .null }
    var found: SQLFragment
    if !options.isEmpty {
      found = try alternatives(values.map { try compare(left, .equal, $0, options) })
    } else {
      found = try list(left, values)
    }
    if hasNull { found = parenthesized(found) + " OR " + left.fragment + " IS NULL" }
    return hasNull ? parenthesized(found) : found
  }

  private func alternatives(_ fragments: [SQLFragment]) -> SQLFragment {
    fragments.isEmpty ? SQLFragment("0") : parenthesized(fragments.map(parenthesized).joined(" OR "))
  }

  /// A list is filled up to a power of two with its last element, so that few shapes of statements are prepared.
  private func list(_ left: SQLTerm, _ values: [SQLTerm]) throws -> SQLFragment {
    guard left.kind != .opaque, values.count <= Self.greatestList else { throw Untranslatable() }
    var fragments: [SQLFragment] = []
    for value in values {
      if case .object(let entity) = left.kind {
        guard case .object(let other) = value.kind else { throw Untranslatable() }
        if layout.model.entities[entity].root != layout.model.entities[other].root { continue }
      } else if !left.kind.compares(with: value.kind) {
        throw Untranslatable()
      }
      fragments.append(value.fragment)
    }
    guard let last = fragments.last else { return SQLFragment("0") }
    while fragments.count & (fragments.count - 1) != 0 { fragments.append(last) }
    let found = left.fragment + " IN (" + fragments.joined(", ") + ")"
    if case .object = left.kind, !left.isPresent { return "(" + found + " AND " + left.fragment + " IS NOT NULL)" }
    return found
  }

  /// Half of SQLite's greatest number of parameters.
  private static var greatestList: Int { 16_000 }

  private func between(_ comparison: Comparison) throws -> SQLFragment {
    try between(try translate(comparison.left), comparison.right)
  }

  private func between(_ left: SQLTerm, _ right: Expression) throws -> SQLFragment {
    let bounds = try elements(of: right)
    guard bounds.count == 2, bounds.allSatisfy({ left.kind.compares(with: $0.kind) }) else {
      throw Untranslatable()
    }
    return left.fragment + " BETWEEN " + bounds[0].fragment + " AND " + bounds[1].fragment
  }

  private func elements(of expression: Expression) throws -> [SQLTerm] {
    switch expression {
    case .aggregate(let elements): try elements.map { try translate($0) }
    case .constant(.list(let values)): try values.map { try constant($0) }
    default: throw Untranslatable()
    }
  }
}

extension Predicate.Comparison.Operator {
  /// The operator in SQL.
  fileprivate var sql: String {
    switch self {
    case .equal: "="
    case .notEqual: "<>"
    default: rawValue
    }
  }
}
