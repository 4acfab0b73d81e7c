/// Leads to a context as long as it lives, for those who must not keep it alive.
///
/// A weak reference would cost every use of the context: the counts of an object that has one lie in a table beside it. Confined
/// to the context's executor.
package final class ContextReference {
  // Cleared by the context when it goes.
  package fileprivate(set) final unowned(unsafe) var context: ManagedObjectContext?

  fileprivate init(_ context: ManagedObjectContext) { self.context = context }

  final func clear() { context = nil }
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
