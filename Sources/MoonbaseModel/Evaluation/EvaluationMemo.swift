import MoonbasePlatform

/// The results of an expression's shared parts, for a single run over many rows such as a fetch or a sort.
///
/// Without a memo, each of a thousand rows of the same owner would visit the owner's thousand members again. A result
/// is valid until anything changes in the owner's context, as for derived values.
///
/// A memo belongs to one run on one thread, and its memory is charged to a running script.
@usableFromInline
package final class EvaluationMemo {
  /// The key of a result: the part and the object at the end of its path.
  struct Key: Hashable {
    /// The shared part, by identity.
    let part: ObjectIdentifier
    /// The object.
    let owner: SubjectState.Identity
  }

  /// A result with the state in which it is valid.
  private struct Outcome {
    /// The result.
    var value: Value
    /// The counter of changes when the result was computed.
    var changes: UInt64
  }

  /// The most results kept. When the memo is full, all results are discarded.
  private static let greatestCount = 1 << 16

  /// The results by key.
  private var outcomes: [Key: Outcome] = [:]
  /// The memory charged for the results.
  private var memory = HostMemory()

  /// Begins a run.
  package init() {}

  /// The result of a part for an owner, if nothing changed since.
  func value(of key: Key, changes: UInt64) -> Value? {
    guard let outcome = outcomes[key], outcome.changes == changes else { return nil }
    return outcome.value
  }

  /// Keeps the result of a part. Throws the error that ends the run if memory is exhausted.
  func keep(_ value: Value, of key: Key, changes: UInt64) throws {
    if outcomes.count >= Self.greatestCount {
      outcomes = [:]
      memory = HostMemory()
    }
    try memory.hold(128 + value.weight)
    outcomes[key] = Outcome(value: value, changes: changes)
  }
}

/// The identity of a subject, with a counter of changes.
@usableFromInline
package struct SubjectState: Equatable {
  /// The identity of an object in its context.
  package struct Identity: Hashable {
    /// The object's ID.
    let id: ManagedObjectID
    /// The object's context, by identity.
    let context: ObjectIdentifier
  }

  /// The identity of the subject.
  let identity: Identity
  /// A number that changes with every change of anything that the subject refers to.
  let changes: UInt64

  /// The state of an object in a context, which must exist for the whole run.
  package init(id: ManagedObjectID, context: AnyObject, changes: UInt64) {
    identity = Identity(id: id, context: ObjectIdentifier(context))
    self.changes = changes
  }
}
