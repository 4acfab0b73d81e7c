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
