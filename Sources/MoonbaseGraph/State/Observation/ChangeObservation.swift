/// The objects of a context that changed since the previous event.
public struct ContextChange {
  /// Objects that were inserted, or whose removal was undone.
  public let inserted: [ManagedObject]
  /// Objects that changed in any other way.
  public let updated: [ManagedObject]
  /// Objects marked for deletion, and new objects that were removed.
  public let deleted: [ManagedObject]
  /// Objects that were refreshed, or whose changes were discarded.
  public let refreshed: [ManagedObject]
  /// Whether all objects were removed from the context (`reset`).
  public let isInvalidated: Bool

  /// The IDs of the objects, usable outside the context. New objects may have temporary IDs.
  public var objectIDs: ChangedObjectIDs {
    ChangedObjectIDs(
      inserted: inserted.map(\.objectID), updated: updated.map(\.objectID), deleted: deleted.map(\.objectID),
      refreshed: refreshed.map(\.objectID), isInvalidated: isInvalidated)
  }

  var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && !isInvalidated
  }
}

/// An observation of the changes in a context. It ends when it is cancelled or released.
public final class ChangeObservation {
  let body: (ContextChange) -> Void
  private(set) var isOver = false
  private let context: ContextReference

  init(_ context: ManagedObjectContext, _ body: @escaping (ContextChange) -> Void) {
    (self.body, self.context) = (body, context.reference)
  }

  deinit { cancel() }

  /// Ends the observation. Its closure is not called any more, even if other observers are being notified of an event.
  public func cancel() {
    isOver = true
    guard let context = context.context else { return }
    context.observations.changeEvent?.observers.removeAll { $0.pointer == ObjectIdentifier(self) }
    context.endUnheardChangeEvent()
  }
}
