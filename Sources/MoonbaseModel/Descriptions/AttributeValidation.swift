/// The validation rules of an attribute that a model can state. Missing values are not checked against them.
///
/// ```swift
/// var age = AttributeDescription("age", type: .integer16)
/// age.validation.minimum = 0
/// age.validation.predicates = [ValidationPredicate(try Predicate(format: "SELF != 13"), message: "must not be 13")]
/// ```
public struct AttributeValidation: Sendable, Hashable {
  /// The least value: a number or a date.
  public var minimum: Value?
  /// The greatest value: a number or a date.
  public var maximum: Value?
  /// The least length of a string, in characters.
  public var minimumLength: Int?
  /// The greatest length of a string, in characters.
  public var maximumLength: Int?
  /// An ICU regular expression that the whole string must match.
  public var regularExpression: String?
  /// The values allowed, where they are listed.
  public var allowedValues: [Value]?
  /// Further rules: the predicate must hold for the value, which is SELF.
  public var predicates: [ValidationPredicate] = []

  /// An empty set of rules.
  public init() {}

  /// Whether there is nothing to check.
  public var isEmpty: Bool {
    minimum == nil && maximum == nil && minimumLength == nil && maximumLength == nil && regularExpression == nil
      && allowedValues == nil && predicates.isEmpty
  }
}

/// A predicate over a value, with the message that its failure gives.
///
/// ```swift
/// let rule = ValidationPredicate(try Predicate(format: "SELF MATCHES '[A-Z].*'"), message: "must begin with a capital")
/// ```
public struct ValidationPredicate: Sendable, Hashable {
  /// The predicate; SELF is the value.
  public var predicate: Predicate
  /// The message, or a key for the host's own localisation.
  public var message: String

  /// A rule.
  public init(_ predicate: Predicate, message: String) {
    self.predicate = predicate
    self.message = message
  }

  /// A rule in words. Throws `ModelError` with the place in the text.
  public init(_ text: String, message: String) throws(ModelError) {
    self.init(try Predicate(format: text), message: message)
  }
}
