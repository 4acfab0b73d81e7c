import MoonbaseModel

/// An observation of the changes that a context merges. It ends when it is cancelled or released.
public final class MergeObservation {
  let didMerge: (SavedObjectIDs) -> Void
  private(set) var isOver = false
  private let context: ContextReference

  fileprivate init(_ context: ManagedObjectContext, _ didMerge: @escaping (SavedObjectIDs) -> Void) {
    (self.didMerge, self.context) = (didMerge, context.reference)
  }

  deinit { cancel() }

  /// Ends the observation: its closure is not called any more.
  public func cancel() {
    isOver = true
    context.context?.observations.merges.removeAll { $0.pointer == ObjectIdentifier(self) }
  }
}

extension ManagedObjectContext {
  /// A registered observation, which the context does not retain.
  struct MergeObserver {
    weak var observation: MergeObservation?
    let pointer: ObjectIdentifier
  }

  /// Calls a closure after each merge of another context's or process's save, with the saved IDs. This includes calls
  /// of `mergeChanges` and automatic merges (`automaticallyMergesChangesFromParent`).
  ///
  /// The closure may change objects. Merging, saving, resetting or rolling back within it throws `.contextBusy`.
  public func observeMerges(_ didMerge: @escaping (SavedObjectIDs) -> Void) -> MergeObservation {
    let observation = MergeObservation(self, didMerge)
    observations.merges.append(MergeObserver(observation: observation, pointer: ObjectIdentifier(observation)))
    return observation
  }

  /// Notifies the observers of merges.
  func tellDidMerge(_ saved: SavedObjectIDs) {
    // A closure may end other observations.
    for observer in observations.merges {
      guard let observation = observer.observation, !observation.isOver else { continue }
      withinHook { observation.didMerge(saved) }
    }
  }
}

/// Observations that a context retains, and late errors.
extension ManagedObjectContext {
  /// Retains an observation until it is released or the context is closed.
  package func keep(observation: AnyObject) { observations.kept[ObjectIdentifier(observation)] = observation }

  /// Whether the context retains an observation.
  package func keeps(observation: AnyObject) -> Bool { observations.kept[ObjectIdentifier(observation)] != nil }

  /// Releases an observation.
  package func release(observation: AnyObject) { observations.kept[ObjectIdentifier(observation)] = nil }

  /// Keeps an error that comes too late to fail a call, such as the error of a `didSave` hook.
  package func keepLate(_ error: GraphError) {
    if didSaveErrors.count < Self.greatestErrorCount { didSaveErrors.append(error) }
  }

  /// The greatest number of errors of `didSave` hooks that a context keeps.
  private static let greatestErrorCount = 100

  /// Releases the retained observations.
  package func endObservations() { observations.kept = [:] }
}
