import MoonbaseModel

/// A validation rule as a compiled model holds it: a predicate, and a code or a message.
struct ArchivedRule {
  var predicate: Predicate
  var warning: PropertyList
}

extension AttributeDescription {
  /// The rules in the form in which Xcode's compiler writes them; reading recognizes it.
  var archivedRules: [ArchivedRule] {
    let isDate = type == .date
    let length = Expression.keyPath("length")
    var rules: [ArchivedRule] = []
    func add(
      _ code: ValidationWarningCode, _ left: Expression, _ operation: Predicate.Comparison.Operator, _ value: Value?
    ) {
      guard let value else { return }
      let comparison = Predicate.Comparison(left, operation, .constant(value))
      rules.append(ArchivedRule(predicate: .comparison(comparison), warning: .integer(Int64(code.rawValue))))
    }
    add(isDate ? .dateTooSoon : .numberTooSmall, .evaluatedObject, .greaterThanOrEqual, validation.minimum)
    add(isDate ? .dateTooLate : .numberTooLarge, .evaluatedObject, .lessThanOrEqual, validation.maximum)
    add(.stringTooShort, length, .greaterThanOrEqual, validation.minimumLength.map { .int(Int64($0)) })
    add(.stringTooLong, length, .lessThanOrEqual, validation.maximumLength.map { .int(Int64($0)) })
    add(.stringPattern, .evaluatedObject, .matches, validation.regularExpression.map(Value.string))
    add(.notAllowed, .evaluatedObject, .in, validation.allowedValues.map(Value.list))
    return rules + validation.predicates.map { ArchivedRule(predicate: $0.predicate, warning: .string($0.message)) }
  }
}
