import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

// Comparisons and their combinations.

extension PredicateExpressions.Conjunction: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    .condition(.and([try conversion.condition(lhs), try conversion.condition(rhs)]))
  }
}

extension PredicateExpressions.Disjunction: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    .condition(.or([try conversion.condition(lhs), try conversion.condition(rhs)]))
  }
}

extension PredicateExpressions.Negation: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    .condition(.not(try conversion.decided { try $0.condition(wrapped) }))
  }
}

extension PredicateExpressions.Equal: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    .condition(try conversion.equality(lhs, rhs))
  }
}

extension PredicateExpressions.NotEqual: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    .condition(try conversion.inequality(lhs, rhs))
  }
}

extension PredicateExpressions.Comparison: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    let name: Predicate.Comparison.Operator =
      switch op {
      case .lessThan: .lessThan
      case .lessThanOrEqual: .lessThanOrEqual
      case .greaterThan: .greaterThan
      case .greaterThanOrEqual: .greaterThanOrEqual
      @unknown default: throw conversion.refusal("the operator \(op) has no counterpart in a fetch")
      }
    return .condition(.comparison(.init(try conversion.value(lhs), name, try conversion.value(rhs))))
  }
}

extension PredicateConversion {
  fileprivate mutating func equality(_ left: Any, _ right: Any) throws -> Predicate {
    let (left, right) = try decided { (try $0.part(left), try $0.part(right)) }
    return equality(left, right, isPositive: isPositive)
  }

  fileprivate mutating func inequality(_ left: Any, _ right: Any) throws -> Predicate {
    let (left, right) = try decided { (try $0.part(left), try $0.part(right)) }
    guard case .value(let one) = left.form, case .value(let other) = right.form else {
      return .not(equality(left, right, isPositive: false))
    }
    let isDifferent = Predicate.comparison(.init(one, .notEqual, other))
    if left.constant?.isNull == true || right.constant?.isNull == true { return isDifferent }
    switch (left.presence, right.presence) {
    case (nil, nil): return isDifferent
    case (_?, nil): return .or([isDifferent, one.isMissing])
    case (nil, _?): return .or([isDifferent, other.isMissing])
    case (_?, _?): return .not(equality(left, right, isPositive: false))
    }
  }

  private func equality(_ left: ConvertedPart, _ right: ConvertedPart, isPositive: Bool) -> Predicate {
    switch (left.form, right.form) {
    case (.value(let one), .value(let other)):
      let isEqual = Predicate.comparison(.init(one, .equal, other))
      // A comparison with nil needs no further test.
      if left.constant?.isNull == true || right.constant?.isNull == true { return isEqual }
      let presence = [left.presence, right.presence].compactMap(\.self)
      if presence.count == 2 { return .or([.and([one.isMissing, other.isMissing]), .and(presence + [isEqual])]) }
      return isPositive || presence.isEmpty ? isEqual : .and(presence + [isEqual])
    case (.condition(let condition, let presence), .value(.constant(let truth))),
      (.value(.constant(let truth)), .condition(let condition, let presence)):
      guard let truth = truth.bool else { return presence.map(Predicate.not) ?? .constant(false) }
      let holds = truth ? condition : Predicate.not(condition)
      return presence.map { .and([$0, holds]) } ?? holds
    default:
      let (one, other) = (Self.condition(left), Self.condition(right))
      let both = [left.presence, right.presence].compactMap(\.self)
      let isSame = Predicate.or([.and([one, other]), .and([.not(one), .not(other)] + both)])
      guard let first = left.presence, let second = right.presence else { return isSame }
      return .or([isSame, .and([.not(first), .not(second)])])
    }
  }
}

// MARK: - Optionals

extension PredicateExpressions.ForcedUnwrap: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    var part = try conversion.part(inner)
    part.isOptional = false
    if case .condition(let condition, _) = part.form { part.form = .condition(condition, presence: nil) }
    return part
  }
}

extension PredicateExpressions.OptionalFlatMap: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    let base = try conversion.part(wrapped)
    guard case .value(let expression) = base.form else {
      throw conversion.refusal("? behind a condition has no counterpart in a fetch")
    }
    var there = base
    there.isOptional = false
    var part = try conversion.binding(variable.key, to: there) { try $0.part(transform) }
    part.isOptional = true
    switch part.form {
    case .condition(let condition, let presence):
      part.form = .condition(condition, presence: .and([expression.isThere] + (presence.map { [$0] } ?? [])))
    case .value(let value) where base.isOptional && !part.isToMany && !value.isMissing(with: expression):
      part.form = .value(.conditional(expression.isMissing, .constant(.null), value))
    case .value: break
    }
    return part
  }
}

extension Expression {
  /// Whether the expression is null whenever `base` is null. A count of objects, for example, is 0 in this case.
  fileprivate func isMissing(with base: Expression) -> Bool {
    if self == base { return true }
    switch self {
    case .keyPath(let root, let path):
      guard !path.contains(where: { $0.hasPrefix("@") }) else { return false }
      guard case .keyPath(let other, let start) = base else { return root.isMissing(with: base) }
      return root == other ? path.starts(with: start) : root.isMissing(with: base)
    // The functions that conversions make are null if an argument is null.
    case .function(_, let arguments): return arguments.contains { $0.isMissing(with: base) }
    default: return false
    }
  }
}

extension PredicateExpressions.NilCoalesce: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    let (first, second) = try conversion.decided { (try $0.part(lhs), try $0.part(rhs)) }
    guard let presence = first.presence else { return first.constant?.isNull == true ? second : first }
    if case .value(let one) = first.form, case .value(let other) = second.form {
      return .value(.conditional(one.isMissing, other, one), isOptional: second.isOptional)
    }
    if second.constant?.bool == false, case .condition(let condition, _) = first.form {
      return .condition(.and([presence, condition]))
    }
    return .condition(
      .or([PredicateConversion.condition(first), .and([.not(presence), PredicateConversion.condition(second)])]))
  }
}

extension PredicateExpressions.Conditional: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    let (holds, one, other) = try conversion.decided {
      (try $0.condition(test), try $0.part(trueBranch), try $0.part(falseBranch))
    }
    if case .value(let then) = one.form, case .value(let otherwise) = other.form, Output.self != Bool.self {
      return .value(.conditional(holds, then, otherwise), isOptional: one.isOptional || other.isOptional)
    }
    return .condition(
      .or([
        .and([holds, PredicateConversion.condition(one)]), .and([.not(holds), PredicateConversion.condition(other)]),
      ]))
  }
}
