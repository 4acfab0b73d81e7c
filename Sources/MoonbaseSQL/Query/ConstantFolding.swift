import MoonbaseModel

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// What says the same for every row becomes the value that it has: `now()`, casts of literals, arithmetic on them. The engine need
/// know none of these functions, and an index can find the value.
extension Predicate {
  /// The predicate with a constant in the place of each expression without properties, and the object in that of its ID.
  func folded(for entity: ResolvedEntity) -> Predicate {
    replacing { part in
      if case .keyPath(.evaluatedObject, ["objectID"]) = part, entity.slot("objectID") == nil {
        return .evaluatedObject
      }
      return part.folded
    }
  }
}

extension Expression {
  /// The constant that the expression is; nil for what depends on a row, and for what has no value: an error of it is the context's
  /// to throw, and a missing value is compared otherwise than the literal NULL.
  fileprivate var folded: Expression? {
    guard case .function = self, let value = fixedValue, !value.isNull else { return nil }
    return .constant(value)
  }

  private var fixedValue: Value? {
    switch self {
    case .constant(let value): value
    case .aggregate(let elements): Self.values(elements).map { .list($0) }
    case .function(let name, let arguments):
      PredicateFunction(rawValue: name).flatMap { function in
        function.isFixed && arguments.count == function.argumentCount
          ? Self.values(arguments).flatMap { try? function.evaluate($0) } : nil
      }
    case .evaluatedObject, .variable, .keyPath, .subquery, .conditional, .assignment, .anyKey: nil
    }
  }

  private static func values(_ expressions: [Expression]) -> [Value]? {
    var result: [Value] = []
    for expression in expressions {
      guard let value = expression.fixedValue else { return nil }
      result.append(value)
    }
    return result
  }
}

extension PredicateFunction {
  /// Whether it gives the same for the same arguments, as long as a fetch takes.
  fileprivate var isFixed: Bool {
    switch self {
    case .random, .randomBelow, .first, .last, .size: false
    default: true
    }
  }
}
