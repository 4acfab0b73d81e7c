/// An expression with everything looked up.
package struct CompiledExpression: Sendable {
  private let root: ValueNode
  /// The slots of a path through to-one relationships to an attribute, or of the value itself; empty for anything else.
  private let way: [Slot]
  /// Whether rows that lead to the same object may share a part: such an expression is asked with a memo.
  package let hasSharedParts: Bool

  /// Compiles an expression over objects of an entity.
  package init(_ expression: Expression, entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) {
    var compiler = PredicateCompiler(entity: entity, model: model, nulls: .fetch)
    let root = try compiler.value(expression)
    hasSharedParts = compiler.leadsToShared
    self.root = hasSharedParts ? root.sharing() : root
    way = root.way ?? []
  }

  /// Compiles an expression over anything that answers keys.
  package init(_ expression: Expression) throws(ModelError) {
    var compiler = PredicateCompiler(entity: nil, model: nil, nulls: .foundation)
    root = try compiler.value(expression)
    hasSharedParts = false
    way = root.way ?? []
  }

  /// The expression's value; objects are given by their IDs. What subjects share is kept in a memo.
  package func value<Subject: SlottedSubject>(_ subject: Subject, memo: EvaluationMemo? = nil) throws -> Value
  where Subject.Related == Subject {
    if let last = way.last { return try value(at: last, of: subject) }
    defer { withExtendedLifetime(memo) {} }
    var bindings = Bindings<Subject>(memo: memo)
    return try root.value(subject, bindings: &bindings)
  }

  /// What lies at the end of the way. Most expressions are such, and looked up so they take neither bindings nor an operand at each step.
  private func value<Subject: SlottedSubject>(at last: Slot, of subject: Subject) throws -> Value
  where Subject.Related == Subject {
    var subject = subject
    for slot in way.dropLast() {
      guard let next = try subject.predicateDestination(slot: slot) else { return .null }
      subject = next
    }
    return try subject.predicateValue(slot: last)
  }
}

extension ValueNode {
  /// The slots of a path through to-one relationships to an attribute, or of the value itself; nil for anything else.
  fileprivate var way: [Slot]? {
    if case .slot(let slot) = self { return [slot] }
    guard case .path(.subject, let steps) = self, case .attribute(let last)? = steps.last else { return nil }
    var slots: [Slot] = []
    for step in steps.dropLast() {
      guard case .toOne(let slot) = step else { return nil }
      slots.append(slot)
    }
    return slots + [last]
  }
}
