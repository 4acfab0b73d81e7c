/// Comparisons of a key path with a value or another key path, as in the format language.
extension KeyExpression {
  /// `==`
  public static func == (left: KeyExpression, right: Value) -> Predicate { left.compare(.equal, .value(right)) }
  /// `==`
  public static func == (left: KeyExpression, right: KeyExpression) -> Predicate {
    left.compare(.equal, right.expression)
  }
  /// `!=`
  public static func != (left: KeyExpression, right: Value) -> Predicate { left.compare(.notEqual, .value(right)) }
  /// `!=`
  public static func != (left: KeyExpression, right: KeyExpression) -> Predicate {
    left.compare(.notEqual, right.expression)
  }
  /// `<`
  public static func < (left: KeyExpression, right: Value) -> Predicate { left.compare(.lessThan, .value(right)) }
  /// `<`
  public static func < (left: KeyExpression, right: KeyExpression) -> Predicate {
    left.compare(.lessThan, right.expression)
  }
  /// `<=`
  public static func <= (left: KeyExpression, right: Value) -> Predicate {
    left.compare(.lessThanOrEqual, .value(right))
  }
  /// `<=`
  public static func <= (left: KeyExpression, right: KeyExpression) -> Predicate {
    left.compare(.lessThanOrEqual, right.expression)
  }
  /// `>`
  public static func > (left: KeyExpression, right: Value) -> Predicate { left.compare(.greaterThan, .value(right)) }
  /// `>`
  public static func > (left: KeyExpression, right: KeyExpression) -> Predicate {
    left.compare(.greaterThan, right.expression)
  }
  /// `>=`
  public static func >= (left: KeyExpression, right: Value) -> Predicate {
    left.compare(.greaterThanOrEqual, .value(right))
  }
  /// `>=`
  public static func >= (left: KeyExpression, right: KeyExpression) -> Predicate {
    left.compare(.greaterThanOrEqual, right.expression)
  }

  /// `+`
  public static func + (left: KeyExpression, right: Value) -> KeyExpression { left.call(.add, .value(right)) }
  /// `+`
  public static func + (left: KeyExpression, right: KeyExpression) -> KeyExpression {
    left.call(.add, right.expression)
  }
  /// `-`
  public static func - (left: KeyExpression, right: Value) -> KeyExpression { left.call(.subtract, .value(right)) }
  /// `-`
  public static func - (left: KeyExpression, right: KeyExpression) -> KeyExpression {
    left.call(.subtract, right.expression)
  }
  /// `*`
  public static func * (left: KeyExpression, right: Value) -> KeyExpression { left.call(.multiply, .value(right)) }
  /// `*`
  public static func * (left: KeyExpression, right: KeyExpression) -> KeyExpression {
    left.call(.multiply, right.expression)
  }
  /// `/`
  public static func / (left: KeyExpression, right: Value) -> KeyExpression { left.call(.divide, .value(right)) }
  /// `/`
  public static func / (left: KeyExpression, right: KeyExpression) -> KeyExpression {
    left.call(.divide, right.expression)
  }

  private func call(_ function: PredicateFunction, _ right: Expression) -> KeyExpression {
    KeyExpression(.function(function.name, [expression, right]))
  }
}

extension Predicate {
  /// Both hold. A chain makes one list, as it does in the format language.
  public static func && (left: Predicate, right: Predicate) -> Predicate {
    if case .and(let parts) = left { return .and(parts + [right]) }
    return .and([left, right])
  }

  /// At least one holds. A chain makes one list, as it does in the format language.
  public static func || (left: Predicate, right: Predicate) -> Predicate {
    if case .or(let parts) = left { return .or(parts + [right]) }
    return .or([left, right])
  }

  /// The other does not hold.
  public static prefix func ! (predicate: Predicate) -> Predicate { .not(predicate) }
}
