import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

// Texts, lists of constants, ranges, and to-many relationships.

extension PredicateExpressions.CollectionContainsCollection: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    try conversion.comparingTexts(base, .contains, other, Base.Output.self)
  }
}

extension PredicateExpressions.SequenceStartsWith: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    try conversion.comparingTexts(base, .beginsWith, prefix, Base.Output.self)
  }
}

extension PredicateExpressions.SequenceContains: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    if LHS.Output.self is any StringProtocol.Type {
      return try conversion.comparingTexts(sequence, .contains, element, LHS.Output.self)
    }
    let list = try conversion.part(sequence)
    let one = try conversion.value(element)
    guard case .value(let all) = list.form else {
      throw conversion.refusal("contains needs a relationship or a text, and here it has a condition")
    }
    if list.isToMany { return .condition(.comparison(.init(all, .equal, one, modifier: .any))) }
    guard let constants = list.constant?.list else {
      throw conversion.refusal("contains needs a relationship or a text, and here it has \(LHS.Output.self)")
    }
    let mayBeMissing = try conversion.part(element).presence
    // A null in the list also matches a missing value, which a comparison finds only by an explicit test.
    guard constants.contains(where: \.isNull), mayBeMissing != nil else {
      let holds = Predicate.comparison(.init(one, .in, all))
      return .condition(conversion.isPositive ? holds : mayBeMissing.map { .and([$0, holds]) } ?? holds)
    }
    let others = Predicate.comparison(.init(one, .in, .constant(.list(constants.filter { !$0.isNull }))))
    return .condition(.or([one.isMissing, .and([one.isThere, others])]))
  }
}

extension PredicateExpressions.SequenceContainsWhere: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    .condition(try conversion.quantified(sequence, variable.key, test, isAll: false))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    .condition(try conversion.quantified(sequence, variable.key, test, isAll: true))
  }
}

extension PredicateExpressions.Filter: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    let all = try conversion.part(sequence)
    guard case .value(let list) = all.form, all.isToMany else {
      throw conversion.refusal("filter needs a relationship")
    }
    let name = conversion.newName()
    let condition = try conversion.binding(variable.key, to: .value(.variable(name))) { try $0.condition(filter) }
    var part = ConvertedPart.value(.subquery(list, variable: name, condition))
    part.isToMany = true
    return part
  }
}

extension PredicateConversion {
  fileprivate mutating func comparingTexts(
    _ left: Any, _ operation: Predicate.Comparison.Operator, _ right: Any, _ type: Any.Type
  ) throws -> ConvertedPart {
    guard type is any StringProtocol.Type else {
      throw refusal("\(operation.rawValue) needs a text, and here it has \(type)")
    }
    return .condition(.comparison(.init(try value(left), operation, try value(right))))
  }

  /// A condition that holds for some or for all members of a relationship or elements of a constant list.
  fileprivate mutating func quantified(
    _ sequence: Any, _ variable: PredicateExpressions.VariableID, _ test: Any, isAll: Bool
  ) throws -> Predicate {
    let all = try part(sequence)
    guard case .value(let list) = all.form else { throw refusal("a condition has no elements") }
    if let constants = all.constant?.list {
      let parts = try constants.map { constant in
        try binding(variable, to: .value(.constant(constant), isOptional: constant.isNull)) { try $0.condition(test) }
      }
      return isAll ? .and(parts) : .or(parts)
    }
    guard all.isToMany else { throw refusal("elements need a relationship or a list") }
    let name = newName()
    func condition(_ conversion: inout Self) throws -> Predicate {
      try conversion.binding(variable, to: .value(.variable(name))) { try $0.condition(test) }
    }
    let searched = try isAll ? Predicate.not(decided(condition)) : condition(&self)
    let found = Expression.keyPath(.subquery(list, variable: name, searched), ["@count"])
    return .comparison(.init(found, isAll ? .equal : .greaterThan, .constant(.int(0))))
  }
}

// MARK: - Ranges

extension PredicateExpressions.RangeExpressionContains: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    let captured = (range as? any CapturedPart)?.captured as? any ConstantRange
    let known: (any ConvertibleRange)? = captured.map { CapturedRange(range: $0) }
    guard let bounds = known ?? (range as? any ConvertibleRange) else {
      throw conversion.refusal("\(PredicateConversion.name(of: range)) as a range has no counterpart in a fetch")
    }
    let value = try conversion.value(element)
    let (lower, upper, isClosed) = try bounds.bounds(&conversion)
    var parts: [Predicate] = []
    if let lower { parts.append(.comparison(.init(value, .greaterThanOrEqual, lower))) }
    if let upper { parts.append(.comparison(.init(value, isClosed ? .lessThanOrEqual : .lessThan, upper))) }
    if let lower, let upper, isClosed { parts = [.comparison(.init(value, .between, .aggregate([lower, upper])))] }
    return .condition(.and(parts))
  }
}

/// A range with constant or computed bounds.
private protocol ConvertibleRange {
  typealias Bounds = (lower: Expression?, upper: Expression?, isClosed: Bool)

  func bounds(_ conversion: inout PredicateConversion) throws -> Bounds
}

extension PredicateExpressions.ClosedRange: ConvertibleRange {
  fileprivate func bounds(_ conversion: inout PredicateConversion) throws -> Bounds {
    (try conversion.value(lower), try conversion.value(upper), true)
  }
}

extension PredicateExpressions.Range: ConvertibleRange {
  fileprivate func bounds(_ conversion: inout PredicateConversion) throws -> Bounds {
    (try conversion.value(lower), try conversion.value(upper), false)
  }
}

/// A range of captured bounds.
private struct CapturedRange: ConvertibleRange {
  let range: any ConstantRange

  func bounds(_ conversion: inout PredicateConversion) throws -> Bounds {
    let (lower, upper, isClosed) = range.limits
    func expression(_ bound: Any) throws -> Expression {
      guard let value = MoonbaseModel.Value.constant(bound) else {
        throw conversion.refusal("\(bound) is of a type of which no attribute has values")
      }
      return .constant(value)
    }
    return (try lower.map(expression), try upper.map(expression), isClosed)
  }
}

/// A range type of the standard library.
private protocol ConstantRange {
  var limits: (lower: Any?, upper: Any?, isClosed: Bool) { get }
}

extension Range: ConstantRange {
  fileprivate var limits: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, upperBound, false) }
}

extension ClosedRange: ConstantRange {
  fileprivate var limits: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, upperBound, true) }
}

extension PartialRangeFrom: ConstantRange {
  fileprivate var limits: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, nil, false) }
}

extension PartialRangeThrough: ConstantRange {
  fileprivate var limits: (lower: Any?, upper: Any?, isClosed: Bool) { (nil, upperBound, true) }
}

extension PartialRangeUpTo: ConstantRange {
  fileprivate var limits: (lower: Any?, upper: Any?, isClosed: Bool) { (nil, upperBound, false) }
}
