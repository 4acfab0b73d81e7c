/// A part of an expression whose result depends only on the object at the end of a path of to-one relationships.
///
/// Rows that refer to the same object share the result: `ANY department.employees.age > 30` is computed once per
/// department in a run, and not once per employee.
///
/// The identity of the object is part of the memo's key, so it is a class. It is immutable and
/// shared by all evaluations.
@usableFromInline
final class SharedPart<Node: Sendable>: Sendable {
  /// The start of the path: the row or a variable.
  private let start: PartStart
  /// The to-one relationships of the path.
  private let way: [Slot]
  /// The part relative to the row.
  private let whole: Node
  /// The part relative to the object at the end of the path.
  private let rest: Node

  /// A part with its path.
  init(start: PartStart, way: [Slot], whole: Node, rest: Node) {
    self.start = start
    self.way = way
    self.whole = whole
    self.rest = rest
  }

  /// The result from the memo, or computed.
  ///
  /// The result is computed from the row if there is no memo, or if a destination is missing.
  private func outcome<Subject: SlottedSubject>(
    _ subject: Subject, bindings: inout Bindings<Subject>,
    ask: (Node, Subject, inout Bindings<Subject>) throws -> Value
  ) throws -> Value where Subject.Related == Subject {
    guard let memo = bindings.memo, let owner = try owner(of: subject, bindings: bindings),
      let state = owner.predicateState
    else { return try ask(whole, subject, &bindings) }
    let key = EvaluationMemo.Key(part: ObjectIdentifier(self), owner: state.identity)
    if let known = memo.value(of: key, changes: state.changes) { return known }
    let value = try ask(rest, owner, &bindings)
    // Computing a value may run hooks that change the visited objects, so the result is kept only if the state is
    // unchanged.
    if owner.predicateState == state { try memo.keep(value, of: key, changes: state.changes) }
    return value
  }

  /// The object at the end of the path; nil if a destination is missing.
  private func owner<Subject: SlottedSubject>(
    of subject: Subject, bindings: Bindings<Subject>
  ) throws -> Subject? where Subject.Related == Subject {
    guard var owner = start.object(subject, bindings: bindings) else { return nil }
    for slot in way {
      guard let next = try owner.predicateDestination(slot: slot) else { return nil }
      owner = next
    }
    return owner
  }
}

extension SharedPart<ConditionNode> {
  /// The result of a shared condition.
  @usableFromInline
  func truth<Subject: SlottedSubject>(
    _ subject: Subject, bindings: inout Bindings<Subject>
  ) throws -> Truth where Subject.Related == Subject {
    let outcome = try outcome(subject, bindings: &bindings) { node, subject, bindings in
      try node.truth(subject, bindings: &bindings).value
    }
    return Truth(outcome)
  }
}

extension SharedPart<ValueNode> {
  /// The value of a shared expression.
  @usableFromInline
  func value<Subject: SlottedSubject>(
    _ subject: Subject, bindings: inout Bindings<Subject>
  ) throws -> Value where Subject.Related == Subject {
    try outcome(subject, bindings: &bindings) { node, subject, bindings in
      try node.value(subject, bindings: &bindings)
    }
  }
}

extension Truth {
  /// The truth as a value, so that the memo can keep it.
  fileprivate var value: Value { self == .unknown ? .null : .bool(self == .yes) }

  /// The truth of a value from the memo.
  fileprivate init(_ value: Value) {
    self = if case .bool(let truth) = value { Truth(truth) } else { .unknown }
  }
}

/// The start of a shared part's path.
enum PartStart: Equatable {
  /// The row itself.
  case row
  /// A variable of a subquery.
  case variable(Int)

  /// The object at the start; nil for a variable without an object.
  fileprivate func object<Subject>(_ row: Subject, bindings: Bindings<Subject>) -> Subject? {
    guard case .variable(let index) = self else { return row }
    return if case .object(let object) = bindings[index] { object } else { nil }
  }
}
