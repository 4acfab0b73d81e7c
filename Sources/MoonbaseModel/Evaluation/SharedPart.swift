/// A part of an expression whose outcome depends only on the object at the end of a path through to-one relationships.
///
/// Rows that lead to the same object share the outcome: in `ANY department.employees.age > 30` a department is asked once in a run,
/// and not once for each employee.
@usableFromInline
final class SharedPart<Node: Sendable>: Sendable {
  private let start: PartStart
  private let way: [Slot]
  /// The part as the row is asked.
  private let whole: Node
  /// The part as the object at the end of the way is asked.
  private let rest: Node

  init(start: PartStart, way: [Slot], whole: Node, rest: Node) {
    self.start = start
    self.way = way
    self.whole = whole
    self.rest = rest
  }

  /// Looks an outcome up, or asks for it.
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
    // Who computes a value on the way may change what was gone over.
    if owner.predicateState == state { try memo.keep(value, of: key, changes: state.changes) }
    return value
  }

  /// The object at the end of the way; nil where there is none.
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
  fileprivate var value: Value { self == .unknown ? .null : .bool(self == .yes) }

  fileprivate init(_ value: Value) {
    self = if case .bool(let truth) = value { Truth(truth) } else { .unknown }
  }
}

/// Where the way of a shared part begins.
enum PartStart: Equatable {
  case row
  case variable(Int)

  fileprivate func object<Subject>(_ row: Subject, bindings: Bindings<Subject>) -> Subject? {
    guard case .variable(let index) = self else { return row }
    return if case .object(let object) = bindings[index] { object } else { nil }
  }
}
