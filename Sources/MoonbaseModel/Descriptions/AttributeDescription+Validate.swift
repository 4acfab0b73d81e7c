import MoonbasePlatform

extension AttributeDescription {
  /// Whether a value that is there may break a rule of the model.
  var hasValueRules: Bool { type == .composite || !validation.isEmpty }

  /// The rules of the model that a value breaks, with Core Data's codes. A missing optional value breaks no rule.
  package func validate(_ value: Value) -> [ValidationFailure] {
    guard !value.isNull else {
      return isOptional ? [] : [ValidationFailure(.missingMandatoryProperty, message: "is required and has no value")]
    }
    if type == .composite { return validateElements(value) }
    var failures = boundFailures(value)
    if case .string(let text) = value { failures += textFailures(text) }
    if let allowed = validation.allowedValues, !allowed.contains(where: { Value.compare($0, value) == .same }) {
      let list = allowed.map { $0.text ?? $0.typeDescription }.joined(separator: ", ")
      failures.append(ValidationFailure(.validation, message: "must be one of \(list)"))
    }
    for rule in validation.predicates where !holds(rule.predicate, for: value) {
      failures.append(ValidationFailure(.validation, message: rule.message))
    }
    return failures
  }

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

  private func textFailures(_ text: String) -> [ValidationFailure] {
    var failures: [ValidationFailure] = []
    if let maximum = validation.maximumLength, text.utf8.count > maximum, text.count > maximum {
      failures.append(ValidationFailure(.stringTooLong, message: "must have at most \(maximum) characters"))
    }
    if let minimum = validation.minimumLength, text.count < minimum {
      failures.append(ValidationFailure(.stringTooShort, message: "must have at least \(minimum) characters"))
    }
    if let pattern = validation.regularExpression, let mismatch = mismatch(text, pattern: pattern) {
      failures.append(ValidationFailure(.stringPatternMatching, message: mismatch))
    }
    return failures
  }

  private func mismatch(_ text: String, pattern: String) -> String? {
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
      element.validate(map[element.name] ?? .null).map {
        ValidationFailure($0.code, message: "\(element.name) \($0.message)")
      }
    }
  }

  /// A rule that cannot be evaluated does not hold.
  private func holds(_ predicate: Predicate, for value: Value) -> Bool {
    (try? predicate.evaluate(with: value)) ?? false
  }
}

/// A rule of the model that a value breaks.
///
/// ```swift
/// failure.code       // .numberTooLarge, 1610
/// failure.message    // must be at most 150
/// ```
public struct ValidationFailure: Sendable, Hashable {
  /// The kind of failure, with Core Data's number.
  public var code: ErrorCode
  /// What is wrong, as the end of a sentence that begins with the property's name.
  public var message: String

  init(_ code: ErrorCode, message: String) {
    self.code = code
    self.message = message
  }
}
