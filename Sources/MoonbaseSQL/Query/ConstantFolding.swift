import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// Replaces expressions with the same value for every row by that value: `now()`, casts of literals, arithmetic on
/// them. The engine then needs none of these functions, and an index can find the value.
///
/// For example, `born < CAST(0, "NSDate")` becomes a comparison with a date, and `age > 2 * 9` with 18. `random()` is
/// not folded, because memory evaluates it for each row.
extension Predicate {
  /// The predicate with a constant for each expression without properties, and with the object itself for its ID.
  /// Throws the errors of exceeded host work only; functions that fail stay in the predicate.
  func folded(for entity: ResolvedEntity) throws -> Predicate {
    try folded(ConstantFolding(isObjectIDAName: entity.slot("objectID") != nil))
  }

  /// Folds both sides of all comparisons.
  fileprivate func folded(_ folding: ConstantFolding) throws -> Predicate {
    try HostWork.charge()
    switch self {
    case .constant: return self
    case .comparison(var comparison):
      comparison.left = try folding.fold(comparison.left).expression
      comparison.right = try folding.fold(comparison.right).expression
      return .comparison(comparison)
    case .and(let parts): return .and(try parts.map { try $0.folded(folding) })
    case .or(let parts): return .or(try parts.map { try $0.folded(folding) })
    case .not(let inner): return .not(try inner.folded(folding))
    }
  }
}

/// Folds an expression in a single pass, from the leaves up.
private struct ConstantFolding {
  /// Whether the entity has a property of that name. `objectID` then is that property instead of the object itself.
  let isObjectIDAName: Bool

  /// An expression and its value for every row. Nil where the value depends on the row.
  typealias Folded = (expression: Expression, value: Value?)

  /// Charges a unit of host work for each node.
  func fold(_ expression: Expression) throws -> Folded {
    try HostWork.charge()
    switch expression {
    case .constant(let value): return (expression, value)
    case .evaluatedObject, .variable, .anyKey: return (expression, nil)
    case .keyPath(.evaluatedObject, ["objectID"]) where !isObjectIDAName: return (.evaluatedObject, nil)
    case .keyPath(let base, let components): return (.keyPath(try fold(base).expression, components), nil)
    case .function(let name, let arguments): return try fold(name, arguments.map(fold))
    case .aggregate(let elements):
      let elements = try elements.map(fold)
      return (.aggregate(elements.map(\.expression)), Self.values(elements).map { .list($0) })
    case .subquery(let collection, let variable, let condition):
      return (.subquery(try fold(collection).expression, variable: variable, try condition.folded(self)), nil)
    case .conditional(let condition, let then, let otherwise):
      return (.conditional(try condition.folded(self), try fold(then).expression, try fold(otherwise).expression), nil)
    case .assignment(let name, let value): return (.assignment(name, try fold(value).expression), nil)
    }
  }

  /// A function without a value is kept: the context throws its error. A null result is kept too, because it compares
  /// differently than the literal NULL. Linear in the arguments.
  private func fold(_ name: String, _ arguments: [Folded]) throws -> Folded {
    var value: Value?
    if let values = Self.values(arguments), let function = PredicateFunction(rawValue: name), function.isFixed,
      arguments.count == function.argumentCount
    {
      value = try? function.evaluate(values)
    }
    if let value, !value.isNull { return (.constant(value), value) }
    return (.function(name, arguments.map(\.expression)), value)
  }

  /// The values of all parts; nil if any depends on the row.
  private static func values(_ parts: [Folded]) -> [Value]? {
    guard parts.allSatisfy({ $0.value != nil }) else { return nil }
    return parts.compactMap(\.value)
  }
}

extension PredicateFunction {
  /// Whether the function has the same result for the same arguments during a fetch. `first`, `last` and `size` depend
  /// on the order of a collection.
  fileprivate var isFixed: Bool {
    switch self {
    case .random, .randomBelow, .first, .last, .size: false
    default: true
    }
  }
}
