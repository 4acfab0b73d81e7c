import MoonbasePlatform

extension AttributeDescription {
  /// Whether the model has rules that a non-null value may break.
  var hasValueRules: Bool {
    type == .composite ? elements.contains { !$0.isOptional || $0.hasValueRules } : !validation.isEmpty
  }

  /// The model's rules that a value breaks, with Core Data's codes. A missing optional value breaks none.
  ///
  /// Throws only when a script's run must end.
  ///
  /// The rules are bounds, lengths, pattern, allowed values and further predicates. Their work is
  /// charged to a running script.
  package func validate(_ value: Value) throws -> [ValidationFailure] {
    guard !value.isNull else {
      return isOptional ? [] : [ValidationFailure(.missingMandatoryProperty, message: "is required and has no value")]
    }
    if type == .composite { return try validateElements(value) }
    var failures = boundFailures(value)
    if case .string(let text) = value { failures += try textFailures(text) }
    if let allowed = validation.allowedValues, try !isListed(value, in: allowed) {
      failures.append(ValidationFailure(.validation, message: "must be one of \(Self.text(of: allowed))"))
    }
    for rule in validation.predicates where try !holds(rule.predicate, for: value) {
      failures.append(ValidationFailure(.validation, message: rule.message))
    }
    return failures
  }

  /// Whether a value equals an allowed one.
  private func isListed(_ value: Value, in allowed: [Value]) throws -> Bool {
    try HostWork.charge(1 + allowed.count >> 4)
    return allowed.contains { Value.compare($0, value) == .same }
  }

  /// The most allowed values listed in a message. There may be thousands of values and of failing objects.
  private static let greatestListed = 20

  /// The allowed values in a message, up to `greatestListed`.
  private static func text(of allowed: [Value]) -> String {
    allowed.lazy.map { $0.beginning ?? $0.typeDescription }.listed(atMost: greatestListed)
  }

  /// The failures of the minimum and the maximum.
  private func boundFailures(_ value: Value) -> [ValidationFailure] {
    var failures: [ValidationFailure] = []
    let isDate = if case .date = value { true } else { false }
    if let maximum = validation.maximum, Value.compare(value, maximum) == .descending {
      let bound = maximum.text ?? ""
      failures.append(
        isDate
          ? .init(.dateTooLate, message: "must not be after \(bound)")
          : .init(.numberTooLarge, message: "must be at most \(bound)"))
    }
    if let minimum = validation.minimum, Value.compare(value, minimum) == .ascending {
      let bound = minimum.text ?? ""
      failures.append(
        isDate
          ? .init(.dateTooSoon, message: "must not be before \(bound)")
          : .init(.numberTooSmall, message: "must be at least \(bound)"))
    }
    return failures
  }

  /// A number of characters in words.
  private static func characters(_ count: Int) -> String { count == 1 ? "1 character" : "\(count) characters" }

  /// The failures of lengths and pattern. The length in bytes is tested first, because counting
  /// characters is slow.
  private func textFailures(_ text: String) throws -> [ValidationFailure] {
    try HostWork.charge(1 + text.utf8.count >> 6)
    var failures: [ValidationFailure] = []
    if let maximum = validation.maximumLength, text.utf8.count > maximum, text.count > maximum {
      failures.append(ValidationFailure(.stringTooLong, message: "must have at most \(Self.characters(maximum))"))
    }
    if let minimum = validation.minimumLength, text.count < minimum {
      failures.append(ValidationFailure(.stringTooShort, message: "must have at least \(Self.characters(minimum))"))
    }
    if let pattern = validation.regularExpression, let mismatch = try mismatch(text, pattern: pattern) {
      failures.append(ValidationFailure(.stringPatternMatching, message: mismatch))
    }
    return failures
  }

  /// The message for a text that does not match, or for a pattern that cannot be evaluated; nil for
  /// a match.
  private func mismatch(_ text: String, pattern: String) throws -> String? {
    do {
      let expression = try RegularExpressionCache.shared.expression(pattern, isCaseInsensitive: false)
      return try expression.matches(text) ? nil : "must match \(TextLimits.beginning(of: pattern, length: 200))"
    } catch {
      try HostWork.charge()
      let problem = (error as? ModelError)?.message ?? "\(error)"
      return "must match \(TextLimits.beginning(of: pattern, length: 200)), which cannot be told: \(problem)"
    }
  }

  /// The failures of a composite's elements, each with the name of its element.
  private func validateElements(_ value: Value) throws -> [ValidationFailure] {
    guard case .map(let map) = value else { return [] }
    return try elements.flatMap { element in
      try element.validate(map[element.name] ?? .null).map {
        ValidationFailure($0.code, message: "\(element.name) \($0.message)")
      }
    }
  }

  /// Whether a rule holds. A rule whose evaluation throws does not hold, unless the error ends the script's run.
  private func holds(_ predicate: Predicate, for value: Value) throws -> Bool {
    try HostWork.charge()
    do {
      return try predicate.evaluate(with: value)
    } catch {
      try HostWork.charge()
      return false
    }
  }
}

/// A failed validation rule of the model.
///
/// ```swift
/// failure.code       // .numberTooLarge, 1610
/// failure.message    // must be at most 150
/// ```
public struct ValidationFailure: Sendable, Hashable {
  /// The kind of failure, with Core Data's number.
  public var code: ErrorCode
  /// The failure, as the end of a sentence that begins with the property's name.
  public var message: String

  /// A failure with a code and a message.
  init(_ code: ErrorCode, message: String) {
    self.code = code
    self.message = message
  }
}
