extension Predicate {
  /// Whether a subject satisfies the predicate, with Foundation's rules for nil: nil equals only nil.
  ///
  /// ```swift
  /// try Predicate(format: "age > $AGE").evaluate(with: ["age": 30], substituting: ["AGE": 18])
  /// ```
  /// Throws for variables without a value, unknown keys, and operators that do not apply to the values found.
  ///
  /// The predicate is compiled for each call. For many subjects, use `CompiledPredicate`.
  public func evaluate<Subject: KeyPathAnswering>(
    with subject: Subject, substituting variables: [String: Value] = [:]
  ) throws -> Bool where Subject.Related == Subject {
    let complete = variables.isEmpty ? self : try substituting(variables)
    return try CompiledPredicate(complete, nulls: .foundation).evaluate(with: subject)
  }

  /// Whether a map satisfies the predicate. A missing key is nil.
  @_disfavoredOverload
  public func evaluate(with map: ConvertibleValues, substituting variables: ConvertibleValues = [:]) throws -> Bool {
    try evaluate(with: [String: Value](map), substituting: [String: Value](variables))
  }

  /// Whether a map satisfies the predicate, with attribute values. A missing key is nil.
  public func evaluate(with map: [String: Value], substituting variables: [String: Value] = [:]) throws -> Bool {
    try evaluate(with: Value.map(map), substituting: variables)
  }
}

extension Expression {
  /// The expression's value for a subject, with objects as their IDs.
  ///
  /// Throws for variables without a value and for functions that do not apply.
  public func value<Subject: KeyPathAnswering>(with subject: Subject) throws -> Value where Subject.Related == Subject {
    try CompiledExpression(self).value(KeyedSubject(base: subject))
  }
}
