public import MoonbaseGraph
public import MoonbaseModel
public import MoonbasePlatform

public import enum MoonbaseModel.Expression

/// An expression in typed conditions and sort orders: the key of an attribute, a path to an attribute, or arithmetic.
///
/// ```swift
/// let adults = try context.fetch(
///   Person.self, where: Person.age >= 18 && Person.department.name == "research",
///   sort: [Person.name.ascending])
/// ```
///
/// The compiler refuses a key of another class, and a value of another type. A comparison with a missing value is
/// neither true nor false, as in the format language: `Person.nickname != "x"` does not find a person without a
/// nickname.
public protocol AttributeExpression<Owner, Value>: Sendable {
  /// The class whose objects have the value.
  associatedtype Owner: ManagedObject
  /// The type of the value.
  associatedtype Value: ValueConvertible
  /// The expression as the format language represents it.
  var expression: Expression { get }
}

/// The key of an attribute, or a path to an attribute, by which objects can be sorted and grouped.
public protocol AttributeKeyPath<Owner, Value>: AttributeExpression {
  /// The path as text, for example for `propertiesToGroupBy`: `department.name`.
  var keyPath: String { get }
}

extension AttributeKeyPath {
  /// The key path as an expression.
  public var expression: Expression { .keyPath(keyPath) }
}

extension Attribute: AttributeKeyPath {
  /// The attribute's name.
  public var keyPath: String { name }
  /// The attribute as an expression.
  public var expression: Expression { .keyPath(.evaluatedObject, [name]) }
}

/// A path to an attribute of another object, or to an aggregate of a relationship.
public struct AttributePath<Owner: ManagedObject, Value: ValueConvertible>: AttributeKeyPath {
  /// The path as text: `department.name`.
  public let keyPath: String

  init(_ keyPath: String) { self.keyPath = keyPath }
}

/// Arithmetic over attributes: `Person.salary * 12`.
public struct AttributeComputation<Owner: ManagedObject, Value: ValueConvertible>: AttributeExpression {
  /// The computation as the format language represents it.
  public let expression: Expression

  init(_ key: KeyExpression) { expression = key.expression }
}

extension AttributeExpression {
  var key: KeyExpression { KeyExpression(expression) }
}

// MARK: - Comparisons

extension AttributeExpression {
  /// `==`; with `nil`, whether the value is missing.
  public static func == (key: Self, value: Value) -> TypedPredicate<Owner> { .init(key.key == value) }
  /// `!=`; with `nil`, whether the value is not missing.
  public static func != (key: Self, value: Value) -> TypedPredicate<Owner> { .init(key.key != value) }
  /// `<`
  public static func < (key: Self, value: Value) -> TypedPredicate<Owner> { .init(key.key < value) }
  /// `<=`
  public static func <= (key: Self, value: Value) -> TypedPredicate<Owner> { .init(key.key <= value) }
  /// `>`
  public static func > (key: Self, value: Value) -> TypedPredicate<Owner> { .init(key.key > value) }
  /// `>=`
  public static func >= (key: Self, value: Value) -> TypedPredicate<Owner> { .init(key.key >= value) }

  /// `==` of two attributes.
  public static func == (key: Self, other: some AttributeExpression<Owner, Value>) -> TypedPredicate<Owner> {
    .init(key.key == other.key)
  }
  /// `!=` of two attributes.
  public static func != (key: Self, other: some AttributeExpression<Owner, Value>) -> TypedPredicate<Owner> {
    .init(key.key != other.key)
  }
  /// `<` of two attributes.
  public static func < (key: Self, other: some AttributeExpression<Owner, Value>) -> TypedPredicate<Owner> {
    .init(key.key < other.key)
  }
  /// `<=` of two attributes.
  public static func <= (key: Self, other: some AttributeExpression<Owner, Value>) -> TypedPredicate<Owner> {
    .init(key.key <= other.key)
  }
  /// `>` of two attributes.
  public static func > (key: Self, other: some AttributeExpression<Owner, Value>) -> TypedPredicate<Owner> {
    .init(key.key > other.key)
  }
  /// `>=` of two attributes.
  public static func >= (key: Self, other: some AttributeExpression<Owner, Value>) -> TypedPredicate<Owner> {
    .init(key.key >= other.key)
  }

  /// `IN`: whether the value is one of the given values.
  public func isIn(_ values: some Sequence<Value>) -> TypedPredicate<Owner> {
    .init(key.isIn(values.map(\.attributeValue)))
  }

  /// `BETWEEN`, both bounds included.
  public func isBetween(_ lower: Value, _ upper: Value) -> TypedPredicate<Owner> {
    .init(key.isBetween(lower, upper))
  }
}

// MARK: - Texts

/// A text, or an optional text.
public protocol TextValue: ValueConvertible {}

extension String: TextValue {}
extension Optional: TextValue where Wrapped == String {}

extension AttributeExpression where Value: TextValue {
  /// `BEGINSWITH`
  public func beginsWith(_ text: String, _ options: TextOptions = []) -> TypedPredicate<Owner> {
    .init(key.beginsWith(text, options: options))
  }

  /// `ENDSWITH`
  public func endsWith(_ text: String, _ options: TextOptions = []) -> TypedPredicate<Owner> {
    .init(key.endsWith(text, options: options))
  }

  /// `CONTAINS`
  public func contains(_ text: String, _ options: TextOptions = []) -> TypedPredicate<Owner> {
    .init(key.contains(text, options: options))
  }

  /// `LIKE`: `?` matches one character, `*` any number of characters.
  public func like(_ pattern: String, _ options: TextOptions = []) -> TypedPredicate<Owner> {
    .init(key.like(pattern, options: options))
  }

  /// `MATCHES`: an ICU regular expression for the whole text.
  public func matches(_ pattern: String, _ options: TextOptions = []) -> TypedPredicate<Owner> {
    .init(key.matches(pattern, options: options))
  }

  /// `==` without regard to case or diacritics.
  public func equals(_ text: String, _ options: TextOptions) -> TypedPredicate<Owner> {
    .init(key.equals(text, options: options))
  }

  /// The options of text comparisons: `.caseInsensitive`, `.diacriticInsensitive`.
  public typealias TextOptions = MoonbaseModel.Predicate.Comparison.Options
}

// MARK: - Arithmetic

/// A number, or an optional number.
public protocol NumberValue: ValueConvertible {}

extension Int: NumberValue {}
extension Int16: NumberValue {}
extension Int32: NumberValue {}
extension Int64: NumberValue {}
extension Double: NumberValue {}
extension Float: NumberValue {}
extension Decimal: NumberValue {}
extension Optional: NumberValue where Wrapped: NumberValue {}

extension AttributeExpression where Value: NumberValue {
  /// The sum.
  public static func + (key: Self, value: Value) -> AttributeComputation<Owner, Value> { .init(key.key + value) }
  /// The difference.
  public static func - (key: Self, value: Value) -> AttributeComputation<Owner, Value> { .init(key.key - value) }
  /// The product.
  public static func * (key: Self, value: Value) -> AttributeComputation<Owner, Value> { .init(key.key * value) }
  /// The quotient.
  public static func / (key: Self, value: Value) -> AttributeComputation<Owner, Value> { .init(key.key / value) }

  /// The sum of two attributes.
  public static func + (key: Self, other: some AttributeExpression<Owner, Value>) -> AttributeComputation<Owner, Value>
  {
    .init(key.key + other.key)
  }
  /// The difference of two attributes.
  public static func - (key: Self, other: some AttributeExpression<Owner, Value>) -> AttributeComputation<Owner, Value>
  {
    .init(key.key - other.key)
  }
  /// The product of two attributes.
  public static func * (key: Self, other: some AttributeExpression<Owner, Value>) -> AttributeComputation<Owner, Value>
  {
    .init(key.key * other.key)
  }
  /// The quotient of two attributes.
  public static func / (key: Self, other: some AttributeExpression<Owner, Value>) -> AttributeComputation<Owner, Value>
  {
    .init(key.key / other.key)
  }
}
