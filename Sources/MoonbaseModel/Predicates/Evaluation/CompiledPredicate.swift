/// A predicate with everything looked up, to be asked about many subjects. Immutable and shared.
package struct CompiledPredicate: Sendable {
  private let root: ConditionNode

  /// Compiles a predicate over objects of an entity, with the rules of a fetch for missing values.
  ///
  /// Throws `.predicateMismatch` for unknown keys and `.evaluation` for variables without a value.
  package init(_ predicate: Predicate, entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) {
    var compiler = PredicateCompiler(entity: entity, model: model, nulls: .fetch)
    root = try compiler.condition(predicate)
  }

  /// Compiles a predicate over anything that answers keys.
  package init(_ predicate: Predicate, nulls: NullRules) throws(ModelError) {
    var compiler = PredicateCompiler(entity: nil, model: nil, nulls: nulls)
    root = try compiler.condition(predicate)
  }

  /// Whether the subject satisfies the predicate.
  package func matches<Subject: SlottedSubject>(_ subject: Subject) throws -> Bool where Subject.Related == Subject {
    var bindings = Bindings<Subject>()
    return try root.truth(subject, &bindings) == .yes
  }
}

/// An expression with everything looked up.
package struct CompiledExpression: Sendable {
  private let root: ValueNode

  /// Compiles an expression over objects of an entity.
  package init(_ expression: Expression, entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) {
    var compiler = PredicateCompiler(entity: entity, model: model, nulls: .fetch)
    root = try compiler.value(expression)
  }

  /// Compiles an expression over anything that answers keys.
  package init(_ expression: Expression) throws(ModelError) {
    var compiler = PredicateCompiler(entity: nil, model: nil, nulls: .foundation)
    root = try compiler.value(expression)
  }

  /// The expression's value; objects are given by their IDs.
  package func value<Subject: SlottedSubject>(_ subject: Subject) throws -> Value where Subject.Related == Subject {
    if let value = try root.simple(subject) { return value }
    var bindings = Bindings<Subject>()
    return try root.operand(subject, &bindings).value
  }
}
