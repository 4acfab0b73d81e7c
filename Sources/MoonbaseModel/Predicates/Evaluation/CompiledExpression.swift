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
    var bindings = Bindings<Subject>()
    return try root.value(subject, bindings: &bindings)
  }
}
