import MoonbaseModel

/// The objects that a save of a context wrote.
public struct ContextSave {
  /// Inserted objects.
  public let inserted: [ManagedObject]
  /// Updated objects.
  public let updated: [ManagedObject]
  /// Deleted objects, whose values cannot be read any more.
  public let deleted: [ManagedObject]
  /// The issues with severity warning.
  public let warnings: [GraphError]

  /// The permanent IDs of the objects, usable outside the context.
  public var objectIDs: SavedObjectIDs {
    SavedObjectIDs(
      inserted: inserted.map(\.objectID), updated: updated.map(\.objectID), deleted: deleted.map(\.objectID))
  }
}

/// An observation of a context's saves. It ends when it is cancelled or released.
public final class SaveObservation {
  let willSave: ((ManagedObjectContext) throws -> Void)?
  let didSave: ((ContextSave) -> Void)?
  private(set) var isOver = false
  private let context: ContextReference

  init(
    _ context: ManagedObjectContext, willSave: ((ManagedObjectContext) throws -> Void)?,
    didSave: ((ContextSave) -> Void)?
  ) {
    (self.willSave, self.didSave, self.context) = (willSave, didSave, context.reference)
  }

  deinit { cancel() }

  /// Ends the observation. Its closures are not called any more, even if other observers are being notified of a save.
  public func cancel() {
    isOver = true
    context.context?.observations.saves.removeAll { $0.pointer == ObjectIdentifier(self) }
  }
}

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
