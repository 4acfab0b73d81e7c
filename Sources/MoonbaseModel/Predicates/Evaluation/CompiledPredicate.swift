/// A predicate with everything looked up, to be asked about many subjects. Immutable and shared.
///
/// ```swift
/// let adult = try CompiledPredicate(Predicate(format: "age >= 18"))
/// let adults = try people.filter { try adult.evaluate(with: $0) }
/// ```
public struct CompiledPredicate: Sendable {
  private let root: Conjunction

  /// Compiles a predicate over objects of an entity, with the rules of a fetch for missing values.
  ///
  /// Throws `.predicateMismatch` for unknown keys and `.evaluation` for variables without a value.
  package init(_ predicate: Predicate, entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) {
    var compiler = PredicateCompiler(entity: entity, model: model, nulls: .fetch)
    root = Conjunction(try compiler.condition(predicate))
  }

  /// Compiles a predicate over anything that answers keys.
  package init(_ predicate: Predicate, nulls: NullRules) throws(ModelError) {
    var compiler = PredicateCompiler(entity: nil, model: nil, nulls: nulls)
    root = Conjunction(try compiler.condition(predicate))
  }

  /// Compiles a predicate over anything that answers keys, with Foundation's rules for nil.
  ///
  /// Throws for variables without a value and for broken regular expressions.
  public init(_ predicate: Predicate) throws(ModelError) { try self.init(predicate, nulls: .foundation) }

  /// Whether the subject satisfies the predicate. Throws as `Predicate.evaluate(with:)` does.
  public func evaluate<Subject: KeyPathAnswering>(with subject: Subject) throws -> Bool
  where Subject.Related == Subject {
    for index in root.tests.indices {
      guard case .value(let value) = try subject.predicateAnswer(forKey: root.tests[index].key) else {
        return try matchesWhole(KeyedSubject(base: subject))
      }
      if try !root.tests[index].holds(value) { return false }
    }
    return try root.rest == nil || matchesRest(KeyedSubject(base: subject))
  }

  /// Whether the subject satisfies the predicate.
  package func matches<Subject: SlottedSubject>(_ subject: Subject) throws -> Bool where Subject.Related == Subject {
    for index in root.tests.indices {
      guard let slot = root.tests[index].slot else { return try matchesWhole(subject) }
      if try !root.tests[index].holds(subject.predicateValue(slot: slot)) { return false }
    }
    return try root.rest == nil || matchesRest(subject)
  }

  /// Every condition by its own means: for keys that lead to objects.
  private func matchesWhole<Subject: SlottedSubject>(_ subject: Subject) throws -> Bool
  where Subject.Related == Subject {
    for test in root.tests {
      let node: ValueNode = test.slot.map { .slot($0) } ?? .key(test.key)
      var bindings = Bindings<Subject>()
      if try !test.holds(node.operand(subject, &bindings).value) { return false }
    }
    return try root.rest == nil || matchesRest(subject)
  }

  private func matchesRest<Subject: SlottedSubject>(_ subject: Subject) throws -> Bool
  where Subject.Related == Subject {
    var bindings = Bindings<Subject>()
    return try root.rest?.truth(subject, &bindings) == .yes
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
