/// The validation rules of an attribute. Missing values are not checked against them.
///
/// ```swift
/// var age = AttributeDescription("age", type: .integer16)
/// age.validation.minimum = 0
/// age.validation.predicates = [ValidationPredicate(try Predicate(format: "SELF != 13"), message: "must not be 13")]
/// ```
public struct AttributeValidation: Sendable, Hashable {
  /// The least value, a number or a date.
  public var minimum: Value?
  /// The greatest value, a number or a date.
  public var maximum: Value?
  /// The least length of a string, in characters.
  public var minimumLength: Int?
  /// The greatest length of a string, in characters.
  public var maximumLength: Int?
  /// An ICU regular expression that the whole string must match.
  public var regularExpression: String?
  /// The allowed values; nil allows all.
  public var allowedValues: [Value]?
  /// Further rules. Each predicate is evaluated with the value as SELF.
  public var predicates: [ValidationPredicate] = []

  /// No rules.
  public init() {}

  /// Whether there are no rules.
  public var isEmpty: Bool {
    minimum == nil && maximum == nil && minimumLength == nil && maximumLength == nil && regularExpression == nil
      && allowedValues == nil && predicates.isEmpty
  }
}

/// A predicate over a value, with the message for values that break it.
///
/// ```swift
/// let capital = try Predicate(format: "SELF MATCHES '[A-Z].*'")
/// let rule = ValidationPredicate(capital, message: "must begin with a capital")
/// ```
public struct ValidationPredicate: Sendable, Hashable {
  /// The predicate; SELF is the value.
  public var predicate: Predicate
  /// The message, or a key for the host's own localisation.
  public var message: String

  /// A rule from a predicate.
  public init(_ predicate: Predicate, message: String) {
    self.predicate = predicate
    self.message = message
  }

  /// A rule from the text of a predicate. Throws `ModelError` with the position in the text.
  public init(_ text: String, message: String) throws(ModelError) {
    self.init(try Predicate(format: text), message: message)
  }
}
