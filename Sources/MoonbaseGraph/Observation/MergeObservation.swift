import MoonbaseModel

/// An observation of the changes that a context merges. It ends when it is cancelled or released.
public final class MergeObservation {
  let didMerge: (SavedObjectIDs) -> Void
  private(set) var isOver = false
  private let context: ContextReference

  init(_ context: ManagedObjectContext, _ didMerge: @escaping (SavedObjectIDs) -> Void) {
    (self.didMerge, self.context) = (didMerge, context.reference)
  }

  deinit { cancel() }

  /// Ends the observation: its closure is not called any more.
  public func cancel() {
    isOver = true
    context.context?.observations.merges.removeAll { $0.pointer == ObjectIdentifier(self) }
  }
}
