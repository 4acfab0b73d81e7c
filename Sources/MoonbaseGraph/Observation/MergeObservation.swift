import MoonbaseModel

/// An observation of what a context takes in from others, which goes on as long as this is kept.
public final class MergeObservation {
  let didMerge: (SavedObjectIDs) -> Void
  private(set) var isOver = false
  private let context: ContextReference

  fileprivate init(_ context: ManagedObjectContext, _ didMerge: @escaping (SavedObjectIDs) -> Void) {
    (self.didMerge, self.context) = (didMerge, context.reference)
  }

  deinit { cancel() }

  /// Ends it: its closure is not called any more.
  public func cancel() {
    isOver = true
    context.context?.mergeObservations.removeAll { $0.pointer == ObjectIdentifier(self) }
  }
}

extension ManagedObjectContext {
  /// A place for an observation, which the context does not keep.
  struct MergeObserver {
    weak var observation: MergeObservation?
    let pointer: ObjectIdentifier
  }

  /// Calls a closure each time that the context has taken in what another context or process saved, with the IDs of
  /// what was saved there: by `mergeChanges`, or by itself (`automaticallyMergesChangesFromParent`).
  ///
  /// The closure may change objects. To merge, save, reset or roll back within it throws `.contextBusy`.
  public func observeMerges(_ didMerge: @escaping (SavedObjectIDs) -> Void) -> MergeObservation {
    let observation = MergeObservation(self, didMerge)
    mergeObservations.append(MergeObserver(observation: observation, pointer: ObjectIdentifier(observation)))
    return observation
  }

  func tellDidMerge(_ saved: SavedObjectIDs) {
    // Each may end others.
    for observer in mergeObservations {
      guard let observation = observer.observation, !observation.isOver else { continue }
      withinHook { observation.didMerge(saved) }
    }
  }
}

/// Observations that a context keeps, and late errors.
extension ManagedObjectContext {
  /// Keeps an observation until it is released or the context is closed.
  package func keep(observation: AnyObject) { keptObservations[ObjectIdentifier(observation)] = observation }

  package func keeps(observation: AnyObject) -> Bool { keptObservations[ObjectIdentifier(observation)] != nil }

  package func release(observation: AnyObject) { keptObservations[ObjectIdentifier(observation)] = nil }

  /// The errors of code that cannot make a call fail any more, as those of `didSave` hooks.
  package func keepLate(_ error: GraphError) {
    if didSaveErrors.count < Self.greatestErrorCount { didSaveErrors.append(error) }
  }

  /// The context keeps no more errors of `didSave` hooks.
  private static let greatestErrorCount = 100

  /// Ends the observations that the context keeps.
  package func endObservations() { keptObservations = [:] }
}
