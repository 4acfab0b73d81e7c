import MoonbaseModel

/// A validation rule in a compiled model: a predicate, with a code or a message.
struct ArchivedRule {
  /// The condition that a valid value satisfies.
  var predicate: Predicate
  /// The error code as an integer, or the message as a string.
  var warning: PropertyList
}

extension AttributeDescription {
  /// The rules in the form that Xcode's compiler writes and that reading recognises.
  ///
  /// The order is fixed: minimum, maximum, lengths, pattern, allowed values, further predicates.
  /// The inverse is `readValidation` of `ArchivedModelReader`.
  var archivedRules: [ArchivedRule] {
    let isDate = type == .date
    let length = Expression.keyPath("length")
    var rules: [ArchivedRule] = []
    func add(
      _ code: ValidationWarningCode, of left: Expression, by operation: Predicate.Comparison.Operator, to value: Value?
    ) {
      guard let value else { return }
      let comparison = Predicate.Comparison(left, operation, .constant(value))
      rules.append(ArchivedRule(predicate: .comparison(comparison), warning: .integer(Int64(code.rawValue))))
    }
    add(isDate ? .dateTooSoon : .numberTooSmall, of: .evaluatedObject, by: .greaterThanOrEqual, to: validation.minimum)
    add(isDate ? .dateTooLate : .numberTooLarge, of: .evaluatedObject, by: .lessThanOrEqual, to: validation.maximum)
    add(.stringTooShort, of: length, by: .greaterThanOrEqual, to: validation.minimumLength.map { .int(Int64($0)) })
    add(.stringTooLong, of: length, by: .lessThanOrEqual, to: validation.maximumLength.map { .int(Int64($0)) })
    add(.stringPattern, of: .evaluatedObject, by: .matches, to: validation.regularExpression.map(Value.string))
    add(.notAllowed, of: .evaluatedObject, by: .in, to: validation.allowedValues.map(Value.list))
    return rules + validation.predicates.map { ArchivedRule(predicate: $0.predicate, warning: .string($0.message)) }
  }
}
