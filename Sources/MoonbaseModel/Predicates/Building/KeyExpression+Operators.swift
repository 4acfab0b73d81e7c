/// Comparisons of a key path with a value or another key path, as in the format language.
extension KeyExpression {
  /// `==`
  public static func == (left: KeyExpression, right: some ValueConvertible) -> Predicate {
    left.compare(.equal, to: .value(right.attributeValue))
  }
  /// `==`
  public static func == (left: KeyExpression, right: KeyExpression) -> Predicate {
    left.compare(.equal, to: right.expression)
  }
  /// `!=`
  public static func != (left: KeyExpression, right: some ValueConvertible) -> Predicate {
    left.compare(.notEqual, to: .value(right.attributeValue))
  }
  /// `!=`
  public static func != (left: KeyExpression, right: KeyExpression) -> Predicate {
    left.compare(.notEqual, to: right.expression)
  }
  /// `== nil`: the key path has no value.
  public static func == (left: KeyExpression, right: _OptionalNilComparisonType) -> Predicate { left.isNull }
  /// `!= nil`: the key path has a value.
  public static func != (left: KeyExpression, right: _OptionalNilComparisonType) -> Predicate { left.isNotNull }
  /// `<`
  public static func < (left: KeyExpression, right: some ValueConvertible) -> Predicate {
    left.compare(.lessThan, to: .value(right.attributeValue))
  }
  /// `<`
  public static func < (left: KeyExpression, right: KeyExpression) -> Predicate {
    left.compare(.lessThan, to: right.expression)
  }
  /// `<=`
  public static func <= (left: KeyExpression, right: some ValueConvertible) -> Predicate {
    left.compare(.lessThanOrEqual, to: .value(right.attributeValue))
  }
  /// `<=`
  public static func <= (left: KeyExpression, right: KeyExpression) -> Predicate {
    left.compare(.lessThanOrEqual, to: right.expression)
  }
  /// `>`
  public static func > (left: KeyExpression, right: some ValueConvertible) -> Predicate {
    left.compare(.greaterThan, to: .value(right.attributeValue))
  }
  /// `>`
  public static func > (left: KeyExpression, right: KeyExpression) -> Predicate {
    left.compare(.greaterThan, to: right.expression)
  }
  /// `>=`
  public static func >= (left: KeyExpression, right: some ValueConvertible) -> Predicate {
    left.compare(.greaterThanOrEqual, to: .value(right.attributeValue))
  }
  /// `>=`
  public static func >= (left: KeyExpression, right: KeyExpression) -> Predicate {
    left.compare(.greaterThanOrEqual, to: right.expression)
  }

  /// `+`
  public static func + (left: KeyExpression, right: some ValueConvertible) -> KeyExpression {
    left.call(.add, with: .value(right.attributeValue))
  }
  /// `+`
  public static func + (left: KeyExpression, right: KeyExpression) -> KeyExpression {
    left.call(.add, with: right.expression)
  }
  /// `-`
  public static func - (left: KeyExpression, right: some ValueConvertible) -> KeyExpression {
    left.call(.subtract, with: .value(right.attributeValue))
  }
  /// `-`
  public static func - (left: KeyExpression, right: KeyExpression) -> KeyExpression {
    left.call(.subtract, with: right.expression)
  }
  /// `*`
  public static func * (left: KeyExpression, right: some ValueConvertible) -> KeyExpression {
    left.call(.multiply, with: .value(right.attributeValue))
  }
  /// `*`
  public static func * (left: KeyExpression, right: KeyExpression) -> KeyExpression {
    left.call(.multiply, with: right.expression)
  }
  /// `/`
  public static func / (left: KeyExpression, right: some ValueConvertible) -> KeyExpression {
    left.call(.divide, with: .value(right.attributeValue))
  }
  /// `/`
  public static func / (left: KeyExpression, right: KeyExpression) -> KeyExpression {
    left.call(.divide, with: right.expression)
  }

  /// A call of a two-operand function on this expression.
  private func call(_ function: PredicateFunction, with right: Expression) -> KeyExpression {
    KeyExpression(.function(function.name, [expression, right]))
  }
}

extension Predicate {
  /// A conjunction. A chain of `&&` makes a single flat list, as in the format language.
  public static func && (left: Predicate, right: Predicate) -> Predicate {
    if case .and(let parts) = left { return .and(parts + [right]) }
    return .and([left, right])
  }

  /// A disjunction. A chain of `||` makes a single flat list, as in the format language.
  public static func || (left: Predicate, right: Predicate) -> Predicate {
    if case .or(let parts) = left { return .or(parts + [right]) }
    return .or([left, right])
  }

  /// The negation of a predicate.
  public static prefix func ! (predicate: Predicate) -> Predicate { .not(predicate) }
}
