import MoonbasePlatform

extension AttributeDescription {
  /// Whether a value that is there may break a rule of the model.
  var hasValueRules: Bool { type == .composite || !validation.isEmpty }

  /// The rules of the model that a value breaks, with Core Data's codes: 1570 for a required value that is missing, 1610 to
  /// 1680 for numbers, dates and strings, 1550 for the rest. A missing optional value breaks no rule.
  package func validate(_ value: Value) -> [ValidationFailure] {
    guard !value.isNull else { return isOptional ? [] : [ValidationFailure(1570, "is required and has no value")] }
    if type == .composite { return validateElements(value) }
    var failures = boundFailures(value)
    if case .string(let text) = value { failures += textFailures(text) }
    if let allowed = validation.allowedValues, !allowed.contains(where: { Value.compare($0, value) == .same }) {
      let list = allowed.map { $0.text ?? $0.typeDescription }.joined(separator: ", ")
      failures.append(ValidationFailure(1550, "must be one of \(list)"))
    }
    for rule in validation.predicates where !holds(rule.predicate, value) {
      failures.append(ValidationFailure(1550, rule.message))
    }
    return failures
  }

  private func boundFailures(_ value: Value) -> [ValidationFailure] {
    var failures: [ValidationFailure] = []
    let isDate = if case .date = value { true } else { false }
    if let maximum = validation.maximum, Value.compare(value, maximum) == .descending {
      let bound = maximum.text ?? ""
      failures.append(isDate ? .init(1630, "must not be after \(bound)") : .init(1610, "must be at most \(bound)"))
    }
    if let minimum = validation.minimum, Value.compare(value, minimum) == .ascending {
      let bound = minimum.text ?? ""
      failures.append(isDate ? .init(1640, "must not be before \(bound)") : .init(1620, "must be at least \(bound)"))
    }
    return failures
  }

  private func textFailures(_ text: String) -> [ValidationFailure] {
    var failures: [ValidationFailure] = []
    if let maximum = validation.maximumLength, text.utf8.count > maximum, text.count > maximum {
      failures.append(ValidationFailure(1660, "must have at most \(maximum) characters"))
    }
    if let minimum = validation.minimumLength, text.count < minimum {
      failures.append(ValidationFailure(1670, "must have at least \(minimum) characters"))
    }
    if let pattern = validation.regularExpression, let mismatch = mismatch(text, pattern) {
      failures.append(ValidationFailure(1680, mismatch))
    }
    return failures
  }

  private func mismatch(_ text: String, _ pattern: String) -> String? {
    do {
      let expression = try RegularExpressionCache.shared.expression(pattern, isCaseInsensitive: false)
      return try expression.matches(text) ? nil : "must match \(pattern)"
    } catch {
      return "must match \(pattern), which cannot be told: \((error as? ModelError)?.message ?? "\(error)")"
    }
  }

  private func validateElements(_ value: Value) -> [ValidationFailure] {
    guard case .map(let map) = value else { return [] }
    return elements.flatMap { element in
      element.validate(map[element.name] ?? .null).map { ValidationFailure($0.code, "\(element.name) \($0.message)") }
    }
  }

  /// A rule that cannot be evaluated does not hold.
  private func holds(_ predicate: Predicate, _ value: Value) -> Bool { (try? predicate.evaluate(with: value)) ?? false }
}

/// A rule of the model that a value breaks.
///
/// ```swift
/// failure.code       // 1610
/// failure.message    // must be at most 150
/// ```
public struct ValidationFailure: Sendable, Hashable {
  /// Core Data's number for the kind of failure.
  public var code: Int
  /// What is wrong, as the end of a sentence that begins with the property's name.
  public var message: String

  init(_ code: Int, _ message: String) {
    self.code = code
    self.message = message
  }
}
