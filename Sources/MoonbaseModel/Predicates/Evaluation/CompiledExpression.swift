/// An expression with everything looked up.
package struct CompiledExpression: Sendable {
  private let root: ValueNode
  private let isPlain: Bool

  /// Compiles an expression over objects of an entity.
  package init(_ expression: Expression, entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) {
    var compiler = PredicateCompiler(entity: entity, model: model, nulls: .fetch)
    root = try compiler.value(expression)
    isPlain = root.isPlain
  }

  /// Compiles an expression over anything that answers keys.
  package init(_ expression: Expression) throws(ModelError) {
    var compiler = PredicateCompiler(entity: nil, model: nil, nulls: .foundation)
    root = try compiler.value(expression)
    isPlain = root.isPlain
  }

  /// The expression's value; objects are given by their IDs.
  package func value<Subject: SlottedSubject>(_ subject: Subject) throws -> Value where Subject.Related == Subject {
    if case .slot(let slot) = root { return try subject.predicateValue(slot: slot) }
    if isPlain {
      do {
        return try root.value { slot, key in
          if slot >= 0 { return try subject.predicateValue(slot: slot) }
          guard case .value(let value) = try subject.predicateAnswer(forKey: key) else { throw NotPlain() }
          return value
        }
      } catch is NotPlain {}
    }
    var bindings = Bindings<Subject>()
    return try root.operand(subject, bindings: &bindings).value
  }
}
