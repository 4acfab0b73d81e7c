import MoonbasePlatform

// Code that runs for every row is specialised into its caller together with the access to the caller's rows:
// docs/development.md, "What the compiler is told".
extension ConditionNode {
  /// The result of the condition for a subject.
  ///
  /// Throws the errors of the subject, `.evaluation` for operators that do not apply, and the error
  /// that ends a script's run.
  @inlinable
  func truth<Subject: SlottedSubject>(
    _ subject: Subject, bindings: inout Bindings<Subject>
  ) throws -> Truth where Subject.Related == Subject {
    switch self {
    case .constant(let truth): return truth
    case .comparison(let comparison): return try comparison.truth(subject, bindings: &bindings)
    case .and(let parts): return try Truth.all(parts) { try $0.truth(subject, bindings: &bindings) }
    case .or(let parts): return try Truth.any(parts) { try $0.truth(subject, bindings: &bindings) }
    case .not(let inner): return try inner.truth(subject, bindings: &bindings).negated
    case .shared(let part): return try part.truth(subject, bindings: &bindings)
    }
  }
}

extension ComparisonNode {
  /// The result of the comparison for a subject: both operands are evaluated, then compared.
  @inlinable
  func truth<Subject: SlottedSubject>(
    _ subject: Subject, bindings: inout Bindings<Subject>
  ) throws -> Truth where Subject.Related == Subject {
    try truth(try left.value(subject, bindings: &bindings), try right.value(subject, bindings: &bindings))
  }

  /// The comparison of two values.
  @usableFromInline
  func truth(_ left: Value, _ right: Value) throws -> Truth {
    switch modifier {
    case .direct: return try direct(left, right)
    // A quantifier counts true comparisons. An unknown comparison is no match, and NONE is a plain negation.
    case .any: return Truth(try elements(of: left).contains { try direct($0, right) == .yes })
    case .all: return Truth(try elements(of: left).allSatisfy { try direct($0, right) == .yes })
    }
  }

  /// The elements of a quantified collection; none for null. Throws `.evaluation` for another
  /// value.
  private func elements(of collection: Value) throws -> [Value] {
    switch collection {
    case .list(let elements):
      try HostWork.charge(elements.count)
      return elements
    case .null: return []
    default:
      throw ModelError(
        .evaluation, message: "a quantifier needs a collection, not a value of type \(collection.typeDescription)")
    }
  }

  /// The comparison without a quantifier, with the operators that take collections.
  private func direct(_ left: Value, _ right: Value) throws -> Truth {
    if rules.isOfOrder { return try rules.holds(left, right) }
    switch (`operator`, left, right) {
    case (.in, _, .list(let elements)): return try contains(left, in: elements, source: self.right)
    case (.between, _, .list(let bounds)): return try between(left, bounds: bounds)
    case (.contains, .list(let elements), _): return try contains(right, in: elements, source: self.left)
    case (.in, .string(let part), .string(let text)):
      return Truth(try StringMatcher(.contains, pattern: part, options: rules.options).matches(text))
    case (.in, .null, .string), (.in, _, .null), (.between, _, .null): return rules.nulls == .fetch ? .unknown : .no
    case (.in, _, _), (.between, _, _):
      throw ModelError(
        .evaluation, message: "\(`operator`.rawValue) needs a list, not a value of type \(right.typeDescription)")
    default: return try rules.holds(left, right)
    }
  }

  /// IN is the OR of `==` with each element. A literal NULL among the elements matches null. A collection at the end of
  /// a path is compared as by ANY, which is never unknown.
  private func contains(_ value: Value, in elements: [Value], source: ValueNode) throws -> Truth {
    if let found = members?.contains(rules.folded(value)) { return Truth(found) }
    try HostWork.charge(elements.count)
    var result = Truth.no
    for element in elements {
      let isNullPlain = rules.isNullPlain || source.constant != nil && element.isNull
      let equality = ScalarComparison(
        operator: .equal, options: rules.options, nulls: rules.nulls, isNullPlain: isNullPlain, matcher: nil,
        folded: rules.folded)
      let truth = try equality.holds(value, element)
      if truth == .yes { return .yes }
      if truth == .unknown, source.isLiteralList { result = .unknown }
    }
    return result
  }

  /// Whether a value lies between two bounds, inclusive. An unknown side makes the result unknown
  /// unless the other fails.
  private func between(_ value: Value, bounds: [Value]) throws -> Truth {
    guard bounds.count == 2 else {
      throw ModelError(.evaluation, message: "BETWEEN needs two bounds, not \(bounds.count)")
    }
    let lower = try rules.with(.greaterThanOrEqual).holds(value, bounds[0])
    let upper = try rules.with(.lessThanOrEqual).holds(value, bounds[1])
    if lower == .no || upper == .no { return .no }
    return lower == .unknown ? lower : upper
  }
}

extension ScalarComparison {
  /// A value of the left side, folded like the constants on the right.
  fileprivate func folded(_ value: Value) -> Value {
    guard !options.isEmpty, !folded.contains(.left), case .string(let text) = value else { return value }
    return .string(options.fold(text))
  }

  /// A copy of the rules with another operator.
  fileprivate func with(_ operator: Predicate.Comparison.Operator) -> ScalarComparison {
    ScalarComparison(
      operator: `operator`, options: options, nulls: nulls, isNullPlain: isNullPlain, matcher: nil, folded: folded)
  }
}
