import MoonbasePlatform

/// What shared parts of an expression came to, for one run over many rows: a fetch, a sort, a walk.
///
/// Without it each of a thousand rows of one owner would go over the owner's thousand members. An outcome holds until anything changes
/// in the owner's context, as a derived value does.
@usableFromInline
package final class EvaluationMemo {
  struct Key: Hashable {
    let part: ObjectIdentifier
    let owner: SubjectState.Identity
  }

  private struct Outcome {
    var value: Value
    var changes: UInt64
  }

  /// With more outcomes all are forgotten: a row then goes over members again that so many other rows did without.
  private static let greatestCount = 1 << 16

  private var outcomes: [Key: Outcome] = [:]
  private var memory = HostMemory()

  /// Begins a run.
  package init() {}

  /// What a part came to for an owner, if nothing changed since.
  func value(of key: Key, changes: UInt64) -> Value? {
    guard let outcome = outcomes[key], outcome.changes == changes else { return nil }
    return outcome.value
  }

  /// Keeps what a part came to. Throws the error with which the run ends, once it must.
  func keep(_ value: Value, of key: Key, changes: UInt64) throws {
    if outcomes.count >= Self.greatestCount {
      outcomes = [:]
      memory = HostMemory()
    }
    try memory.hold(128 + value.weight)
    outcomes[key] = Outcome(value: value, changes: changes)
  }
}

/// What tells a subject from others, and from itself before something changed.
@usableFromInline
package struct SubjectState: Equatable {
  package struct Identity: Hashable {
    let id: ManagedObjectID
    let context: ObjectIdentifier
  }

  let identity: Identity
  /// Another number after every change of anything that the subject leads to.
  let changes: UInt64

  /// The state of an object of a context, which is there as long as the run.
  package init(id: ManagedObjectID, context: AnyObject, changes: UInt64) {
    identity = Identity(id: id, context: ObjectIdentifier(context))
    self.changes = changes
  }
}
