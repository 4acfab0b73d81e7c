/// Leads to a context as long as it lives, for those who must not keep it alive.
///
/// A weak reference would cost every use of the context: the counts of an object that has one lie in a table beside it. Confined
/// to the context's executor.
package final class ContextReference {
  // Cleared by the context when it goes. No access lasts while other code runs.
  @exclusivity(unchecked) private var unretained: Unmanaged<ManagedObjectContext>?

  fileprivate init(_ context: ManagedObjectContext) { unretained = .passUnretained(context) }

  package var context: ManagedObjectContext? { unretained?.takeUnretainedValue() }

  /// Whether there is no context any more; retains nothing.
  package var isGone: Bool { unretained == nil }

  /// How often the context has let go of all its objects; nil once it is gone.
  var resetCount: Int? { unretained.map { $0._withUnsafeGuaranteedRef { $0.resetCount } } }

  func clear() { unretained = nil }
}

extension ManagedObjectContext {
  /// The one reference to this context.
  package var reference: ContextReference {
    if let knownReference { return knownReference }
    let new = ContextReference(self)
    knownReference = new
    return new
  }
}
