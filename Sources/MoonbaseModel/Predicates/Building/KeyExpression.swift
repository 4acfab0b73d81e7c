/// A key path from which Swift's operators build predicates.
///
/// ```swift
/// let age = Expression.key("age")
/// let adults = age >= 18 && age < 65 && Expression.key("name").contains("é", options: [.caseInsensitive])
/// let parents = Expression.key("children.age").any > 5
/// ```
public struct KeyExpression: Sendable, Hashable {
  /// The expression built so far.
  public var expression: Expression
  /// The quantifier for collections.
  var modifier: Predicate.Comparison.Modifier = .direct
  /// Whether the comparison is negated: `NONE`.
  var isNone = false

  /// A key expression from any expression.
  public init(_ expression: Expression) { self.expression = expression }

  /// A key path that continues this key path.
  public func key(_ path: String) -> KeyExpression {
    KeyExpression(expression.appending(path.split(separator: ".").map(String.init)))
  }

  // MARK: Quantifiers

  /// Compares with any element: `ANY`.
  public var any: KeyExpression { quantified(.any) }

  /// Compares with every element: `ALL`.
  public var all: KeyExpression { quantified(.all) }

  /// Holds if no element satisfies the comparison: `NONE`.
  public var none: KeyExpression { quantified(.any, isNone: true) }

  /// The expression with a quantifier for the comparison that follows.
  private func quantified(_ modifier: Predicate.Comparison.Modifier, isNone: Bool = false) -> KeyExpression {
    var result = self
    result.modifier = modifier
    result.isNone = isNone
    return result
  }

  // MARK: Collections

  /// `@count`
  public var count: KeyExpression { key("@count") }

  /// `@sum` of a key of the elements.
  public func sum(_ path: String) -> KeyExpression { key("@sum.\(path)") }

  /// `@avg` of a key of the elements.
  public func average(_ path: String) -> KeyExpression { key("@avg.\(path)") }

  /// `@min` of a key of the elements.
  public func minimum(_ path: String) -> KeyExpression { key("@min.\(path)") }

  /// `@max` of a key of the elements.
  public func maximum(_ path: String) -> KeyExpression { key("@max.\(path)") }

  // MARK: Conditions

  /// Whether there is no value: `= NULL`.
  public var isNull: Predicate { compare(.equal, to: .constant(.null)) }

  /// Whether there is a value: `!= NULL`.
  public var isNotNull: Predicate { compare(.notEqual, to: .constant(.null)) }

  /// `IN`
  public func isIn(_ values: [Value]) -> Predicate { compare(.in, to: .value(.list(values))) }

  /// `IN`
  @_disfavoredOverload
  public func isIn(_ values: some Sequence<some ValueConvertible>) -> Predicate { isIn(values.map(\.attributeValue)) }

  /// `IN` the collection at a key path.
  public func isIn(_ collection: KeyExpression) -> Predicate { compare(.in, to: collection.expression) }

  /// `BETWEEN`, both bounds included.
  public func isBetween(_ lower: some ValueConvertible, _ upper: some ValueConvertible) -> Predicate {
    compare(.between, to: .value([lower.attributeValue, upper.attributeValue]))
  }

  /// `CONTAINS`: part of a string, or element of a collection.
  public func contains(_ value: some ValueConvertible, options: Predicate.Comparison.Options = []) -> Predicate {
    compare(.contains, to: .value(value.attributeValue), options: options)
  }

  /// `BEGINSWITH`
  public func beginsWith(_ text: String, options: Predicate.Comparison.Options = []) -> Predicate {
    compare(.beginsWith, to: .constant(.string(text)), options: options)
  }

  /// `ENDSWITH`
  public func endsWith(_ text: String, options: Predicate.Comparison.Options = []) -> Predicate {
    compare(.endsWith, to: .constant(.string(text)), options: options)
  }

  /// `LIKE`: `?` matches a single character, `*` any number of characters.
  public func like(_ pattern: String, options: Predicate.Comparison.Options = []) -> Predicate {
    compare(.like, to: .constant(.string(pattern)), options: options)
  }

  /// `MATCHES`: an ICU regular expression for the whole string.
  public func matches(_ pattern: String, options: Predicate.Comparison.Options = []) -> Predicate {
    compare(.matches, to: .constant(.string(pattern)), options: options)
  }

  /// `==` with options: `equals("ada", [.caseInsensitive])`.
  public func equals(_ value: some ValueConvertible, options: Predicate.Comparison.Options) -> Predicate {
    compare(.equal, to: .value(value.attributeValue), options: options)
  }

  /// The comparison with the quantifier of this expression.
  func compare(
    _ operator: Predicate.Comparison.Operator, to right: Expression, options: Predicate.Comparison.Options = []
  ) -> Predicate {
    let comparison = Predicate.comparison(
      .init(expression, `operator`, right, modifier: modifier, options: options))
    return isNone ? .not(comparison) : comparison
  }
}

extension Expression {
  /// A key path to build predicates with.
  public static func key(_ path: String) -> KeyExpression { KeyExpression(.keyPath(path)) }

  /// `SELF` to build predicates with.
  public static var subject: KeyExpression { KeyExpression(.evaluatedObject) }
}
