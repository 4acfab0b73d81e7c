import MoonbaseModel

/// What a save of a context wrote, with its objects.
public struct ContextSave {
  /// Objects that were new.
  public let inserted: [ManagedObject]
  /// Objects that were changed.
  public let updated: [ManagedObject]
  /// Objects that are gone; their values cannot be read any more.
  public let deleted: [ManagedObject]
  /// What rules warned of.
  public let warnings: [GraphError]

  /// The same by IDs, which may leave the context: permanent ones.
  public var objectIDs: SavedObjectIDs {
    SavedObjectIDs(
      inserted: inserted.map(\.objectID), updated: updated.map(\.objectID), deleted: deleted.map(\.objectID))
  }
}

/// An observation of the saves of a context, which goes on as long as this is kept.
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

  /// Ends it: its closures are not called any more, not for the save either of which others are being told.
  public func cancel() {
    isOver = true
    context.context?.saveObservations.removeAll { $0.pointer == ObjectIdentifier(self) }
  }
}

extension ManagedObjectContext {
  /// A place for an observation, which the context does not keep.
  struct SaveObserver {
    weak var observation: SaveObservation?
    let pointer: ObjectIdentifier
  }

  /// Calls closures at each save: `willSave` before anything of it happens, where it may change objects, and
  /// `didSave` when all is saved and every `didSave` hook was called. A save that fails calls the first only. An
  /// error of `willSave` fails the save.
  ///
  /// What hooks of a save may ask of the context holds for both. A save that another thread writes (`saveAhead`) is not made while
  /// saves are observed: it is a `save`.
  public func observeSaves(
    willSave: ((ManagedObjectContext) throws -> Void)? = nil, didSave: ((ContextSave) -> Void)? = nil
  ) -> SaveObservation {
    let observation = SaveObservation(self, willSave: willSave, didSave: didSave)
    saveObservations.append(SaveObserver(observation: observation, pointer: ObjectIdentifier(observation)))
    return observation
  }

  /// Whether anybody is to be told of a save.
  var tellsOfSaves: Bool {
    guard let saveSequences else { return !saveObservations.isEmpty }
    if saveSequences.willSave.isEmpty, saveSequences.didSave.isEmpty { self.saveSequences = nil }
    return self.saveSequences != nil || !saveObservations.isEmpty
  }

  func tellWillSave() throws {
    // Each may end others.
    for observer in saveObservations {
      guard let observation = observer.observation, !observation.isOver else { continue }
      try withinHook { try observation.willSave?(self) }
    }
    saveSequences?.willSave.tell(changedObjectIDs)
  }

  /// What is to be saved.
  private var changedObjectIDs: ChangedObjectIDs {
    ChangedObjectIDs(
      inserted: insertedObjects.map(\.objectID), updated: updatedObjects.map(\.objectID),
      deleted: deletedObjects.map(\.objectID))
  }

  func tellDidSave(_ save: ContextSave) {
    withinHook {
      saveSequences?.didSave.tell(save.objectIDs)
      for observer in saveObservations {
        guard let observation = observer.observation, !observation.isOver else { continue }
        observation.didSave?(save)
      }
    }
  }
}
