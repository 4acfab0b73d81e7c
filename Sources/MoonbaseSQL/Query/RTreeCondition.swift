import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// A condition on an R-tree. It selects all rows of a predicate, and possibly more: the exact predicate is evaluated
/// too.
///
/// For example, `latitude BETWEEN {50, 51} AND longitude BETWEEN {8, 9}` limits the tree to boxes that touch this
/// range. The order of dimensions does not matter, and dimensions without a lower bound are allowed.
struct RTreeCondition {
  /// The bounds found so far, by the path of the attribute; inclusive.
  private var bounds: [[String]: (least: Double?, greatest: Double?)] = [:]

  /// Collects the constant bounds of attributes that a condition joins by AND.
  init(_ predicate: Predicate) { note(predicate) }

  /// Follows ANDs only: below OR and NOT a bound does not hold for all rows.
  private mutating func note(_ predicate: Predicate) {
    switch predicate {
    case .and(let parts): for part in parts { note(part) }
    case .comparison(let comparison) where comparison.modifier == .direct: note(comparison)
    case .comparison, .constant, .or, .not: break
    }
  }

  /// Notes the bounds of a comparison with a constant on either side.
  private mutating func note(_ comparison: Predicate.Comparison) {
    if case .between = comparison.operator {
      guard let keys = comparison.left.column, let ends = comparison.right.elements, ends.count == 2 else { return }
      note(keys, .greaterThanOrEqual, ends[0])
      note(keys, .lessThanOrEqual, ends[1])
    } else if let keys = comparison.left.column {
      note(keys, comparison.operator, comparison.right)
    } else if let keys = comparison.right.column {
      note(keys, comparison.operator.mirrored, comparison.left)
    }
  }

  /// Notes one bound. Exclusive bounds are noted as inclusive ones.
  private mutating func note(_ keys: [String], _ comparator: Predicate.Comparison.Operator, _ value: Expression) {
    // For a number beyond the range of floats, an entry may no longer enclose it.
    guard case .constant(let constant) = value, let number = constant.place, abs(number) < RTreeLayout.greatest,
      number == 0 || abs(number) >= RTreeLayout.least
    else {
      return
    }
    var found = bounds[keys] ?? (nil, nil)
    switch comparator {
    case .greaterThan, .greaterThanOrEqual: found.least = max(number, found.least ?? number)
    case .lessThan, .lessThanOrEqual: found.greatest = min(number, found.greatest ?? number)
    case .equal:
      found.least = max(number, found.least ?? number)
      found.greatest = min(number, found.greatest ?? number)
    default: return
    }
    bounds[keys] = found
  }

  /// `Z_PK IN (SELECT Z_PK FROM tree WHERE ...)`. Nil where a dimension has no upper bound: values that are no numbers
  /// sort after all numbers, and only an upper bound excludes them.
  ///
  /// For an attribute of single precision, the bounds are widened to all numbers that are read as the bound.
  func condition(_ tree: RTreeLayout, of layout: EntityLayout, alias: String) -> SQLFragment? {
    var terms: [SQLFragment] = []
    for dimension in tree.dimensions {
      guard let found = bounds[dimension.keys], let greatest = found.greatest else { return nil }
      let isSingle =
        layout.entity.property(dimension.keys[0])?.attribute?.element(at: dimension.keys.dropFirst())?.type == .float
      let columns = tree.bounds(dimension)
      let upper = isSingle ? Single.range(of: greatest)?.upperBound ?? greatest : greatest
      terms.append(SQLFragment("\(columns.least) <= ?", values: [.double(upper)]))
      if let least = found.least {
        let lower = isSingle ? Single.range(of: least)?.lowerBound ?? least : least
        terms.append(SQLFragment("\(columns.greatest) >= ?", values: [.double(lower)]))
      }
    }
    return "\(alias).Z_PK IN (SELECT Z_PK FROM \(identifier(tree.name)) WHERE " + terms.joined(" AND ") + ")"
  }
}

extension Expression {
  /// The keys of an attribute of the row itself.
  fileprivate var column: [String]? {
    if case .keyPath(.evaluatedObject, let keys) = self { keys } else { nil }
  }
}

extension Value {
  /// The coordinate of a number or a date in an R-tree.
  fileprivate var place: Double? {
    switch self {
    case .int(let number): Double(number)
    case .double(let number): number
    case .date(let date): date.timeIntervalSinceReferenceDate
    default: nil
    }
  }
}

extension StoreLayout {
  /// The condition on the tree with most bounded attributes. Nil where no tree serves. Added to the exact condition by
  /// AND (`SelectBuilder`).
  func rTreeCondition(of predicate: Predicate, for query: StoreQuery) -> SQLFragment? {
    guard !rTrees.isEmpty, let layout = entities[query.entity.index] else { return nil }
    // A query for an ancestor entity may select rows that are not in the tree.
    let trees = rTrees.filter { query.entity.isKind(of: model.entities[$0.entity]) }
    guard !trees.isEmpty else { return nil }
    let found = RTreeCondition(predicate)
    return trees.sorted { $0.dimensions.count > $1.dimensions.count }.lazy
      .compactMap { found.condition($0, of: layout, alias: "t0") }.first
  }
}
