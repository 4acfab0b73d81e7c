/// A compiled expression: names are resolved to slots.
///
/// Compilation costs more than one evaluation, so callers compile once for all rows of a fetch. The
/// value is immutable and may be used from any thread; a memo belongs to one run.
package struct CompiledExpression: Sendable {
  /// The compiled tree.
  private let root: ValueNode
  /// The slots of a path through to-one relationships to an attribute, or the slot of an attribute; empty for other
  /// expressions.
  private let way: [Slot]
  /// Whether rows that refer to the same object can share partial results. Pass a memo to `value` then.
  package let hasSharedParts: Bool

  /// Compiles an expression over objects of an entity.
  ///
  /// Throws `.predicateMismatch` for unknown keys and `.evaluation` for variables without a value.
  package init(_ expression: Expression, entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) {
    var compiler = PredicateCompiler(entity: entity, model: model, nulls: .fetch)
    let root = try compiler.value(expression)
    hasSharedParts = compiler.leadsToShared
    self.root = hasSharedParts ? root.sharing() : root
    way = root.way ?? []
  }

  /// Compiles an expression over any subject that answers keys.
  ///
  /// Keys are looked up by name in each evaluation. Throws `.evaluation` for unknown functions and
  /// variables.
  package init(_ expression: Expression) throws(ModelError) {
    var compiler = PredicateCompiler(entity: nil, model: nil, nulls: .foundation)
    root = try compiler.value(expression)
    hasSharedParts = false
    way = root.way ?? []
  }

  /// The expression's value, with objects as their IDs. The memo keeps results that subjects share.
  ///
  /// Throws the errors of the subject and of functions that do not apply to their arguments.
  package func value<Subject: SlottedSubject>(_ subject: Subject, memo: EvaluationMemo? = nil) throws -> Value
  where Subject.Related == Subject {
    if let last = way.last { return try value(at: last, of: subject) }
    defer { withExtendedLifetime(memo) {} }
    var bindings = Bindings<Subject>(memo: memo)
    return try root.value(subject, bindings: &bindings)
  }

  /// The value at the end of a path. The common case, which avoids bindings and an operand at each step.
  ///
  /// A missing destination on the way gives null.
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
  /// The slots of a path through to-one relationships to an attribute, or the slot of an attribute; nil for other
  /// expressions.
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
