import MoonbaseModel

extension ManagedObjectContext {
  /// A registered observation, which the context does not retain.
  struct SaveObserver {
    weak var observation: SaveObservation?
    let pointer: ObjectIdentifier
  }

  /// Calls closures at each save: `willSave` at the beginning, where it may change objects, and `didSave` when
  /// everything is saved and all `didSave` hooks were called. If the save fails, only `willSave` is called. An error of
  /// `willSave` fails the save.
  ///
  /// Both closures are restricted like hooks of a save. While saves are observed, `saveAhead` saves at once, like
  /// `save`.
  public func observeSaves(
    willSave: ((ManagedObjectContext) throws -> Void)? = nil, didSave: ((ContextSave) -> Void)? = nil
  ) -> SaveObservation {
    let observation = SaveObservation(self, willSave: willSave, didSave: didSave)
    observations.saves.append(SaveObserver(observation: observation, pointer: ObjectIdentifier(observation)))
    return observation
  }

  /// Whether any observer or sequence is to be notified of saves.
  var tellsOfSaves: Bool {
    guard let saveSequences = observations.sequences else { return !observations.saves.isEmpty }
    if saveSequences.willSave.isEmpty, saveSequences.didSave.isEmpty { self.observations.sequences = nil }
    return self.observations.sequences != nil || !observations.saves.isEmpty
  }

  /// Notifies observers before a save. Throws the error of an observer.
  func tellWillSave() throws {
    // A closure may end other observations.
    for observer in observations.saves {
      guard let observation = observer.observation, !observation.isOver else { continue }
      try withinHook { try observation.willSave?(self) }
    }
    observations.sequences?.willSave.tell(changedObjectIDs)
  }

  /// The IDs of the objects to be saved.
  private var changedObjectIDs: ChangedObjectIDs {
    ChangedObjectIDs(
      inserted: insertedObjects.map(\.objectID), updated: updatedObjects.map(\.objectID),
      deleted: deletedObjects.map(\.objectID))
  }

  /// Notifies observers after a save.
  func tellDidSave(_ save: ContextSave) {
    withinHook {
      observations.sequences?.didSave.tell(save.objectIDs)
      for observer in observations.saves {
        guard let observation = observer.observation, !observation.isOver else { continue }
        observation.didSave?(save)
      }
    }
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
    if errors.didSave.count < Self.greatestErrorCount { errors.didSave.append(error) }
  }

  /// The greatest number of errors of `didSave` hooks that a context keeps.
  private static let greatestErrorCount = 100

  /// Releases the retained observations.
  package func endObservations() { observations.kept = [:] }
}
