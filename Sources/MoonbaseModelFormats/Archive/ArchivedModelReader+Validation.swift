import MoonbaseModel

/// The error codes of rules in a compiled model, for rules that Xcode's inspector can express.
///
/// Core Data stores a rule as a predicate and, in a parallel array, its error code. The code
/// decides which field of Xcode's inspector the rule came from.
enum ValidationWarningCode: Int {
  /// Core Data's general validation code, because it has none for unlisted values.
  case notAllowed = 1550
  /// Core Data: NSValidationNumberTooLargeError.
  case numberTooLarge = 1610
  /// Core Data: NSValidationNumberTooSmallError.
  case numberTooSmall = 1620
  /// Core Data: NSValidationDateTooLateError.
  case dateTooLate = 1630
  /// Core Data: NSValidationDateTooSoonError.
  case dateTooSoon = 1640
  /// Core Data: NSValidationStringTooLongError.
  case stringTooLong = 1660
  /// Core Data: NSValidationStringTooShortError.
  case stringTooShort = 1670
  /// Core Data: NSValidationStringPatternMatchingError.
  case stringPattern = 1680
}

extension ArchivedModelReader {
  /// Reads the validation rules. Rules of known form become minimum, maximum, lengths and pattern; all others remain
  /// predicates with their messages.
  ///
  /// For example, `SELF >= 18` with code 1620 becomes the minimum 18. Throws `.malformedFile` for
  /// an unreadable predicate.
  mutating func readValidation(_ object: ArchivedObject, into attribute: inout AttributeDescription, subject: String)
    throws(ModelError)
  {
    let predicates = (object.elements("NSValidationPredicates") ?? []).compactMap(\.object)
    let warnings = object.elements("NSValidationWarnings") ?? []
    for (index, archived) in predicates.enumerated() {
      let predicate: Predicate
      do { predicate = try ArchivedPredicateReader().predicate(archived) } catch {
        throw ModelError(error.code, message: "\(subject): its validation: \(error.message)")
      }
      let warning = index < warnings.count ? warnings[index] : nil
      let code = warning?.integer.flatMap { ValidationWarningCode(rawValue: Int($0)) }
      if let code, apply(predicate, code: code, to: &attribute) { continue }
      let message = warning?.string ?? warning?.integer.map { "\($0)" } ?? ""
      attribute.validation.predicates.append(ValidationPredicate(predicate, message: message))
    }
  }

  /// Sets the field for a rule. Returns false if predicate and code do not match a field.
  private func apply(_ predicate: Predicate, code: ValidationWarningCode, to attribute: inout AttributeDescription)
    -> Bool
  {
    guard case .comparison(let comparison) = predicate, case .constant(let raw) = comparison.right else { return false }
    let value = normalized(raw, for: attribute.type)
    let ofSelf = comparison.left == .evaluatedObject
    let ofLength = comparison.left == .keyPath(.evaluatedObject, ["length"])
    switch (code, comparison.operator, value) {
    case (.numberTooSmall, .greaterThanOrEqual, _) where ofSelf, (.dateTooSoon, .greaterThanOrEqual, _) where ofSelf:
      attribute.validation.minimum = value
    case (.numberTooLarge, .lessThanOrEqual, _) where ofSelf, (.dateTooLate, .lessThanOrEqual, _) where ofSelf:
      attribute.validation.maximum = value
    case (.stringTooShort, .greaterThanOrEqual, .int(let length)) where ofLength:
      attribute.validation.minimumLength = Int(length)
    case (.stringTooLong, .lessThanOrEqual, .int(let length)) where ofLength:
      attribute.validation.maximumLength = Int(length)
    case (.stringPattern, .matches, .string(let pattern)) where ofSelf:
      attribute.validation.regularExpression = pattern
    case (.notAllowed, .in, .list(let list)) where ofSelf: attribute.validation.allowedValues = list
    default: return false
    }
    return true
  }
}
