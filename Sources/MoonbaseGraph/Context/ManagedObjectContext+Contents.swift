import MoonbaseModel

/// The objects, changes and errors of a context.
extension ManagedObjectContext {
  /// Returns and clears the errors of accessors that could not throw.
  public func drainAccessorErrors() -> [any Error] {
    defer { pendingErrors = [] }
    return pendingErrors
  }

  /// Returns and clears the errors of `didSave` hooks.
  public func takeDidSaveErrors() -> [GraphError] {
    defer { didSaveErrors = [] }
    return didSaveErrors
  }

  /// Whether any change waits to be saved.
  public var hasChanges: Bool { !changesToRead.isEmpty }
  /// Objects that were never saved and are not deleted.
  public var insertedObjects: [ManagedObject] { changesToRead.filter { $0.isInserted && !$0.isDeleted } }
  /// Saved objects with unsaved changes, primitive values among them.
  public var updatedObjects: [ManagedObject] { changesToRead.filter { !$0.isInserted && !$0.isDeleted } }
  /// Saved objects marked for deletion.
  public var deletedObjects: [ManagedObject] { changesToRead.filter { $0.isDeleted && !$0.isInserted } }
  /// The list of changes; records the access if a getter is running. Ends batches of notes before reading.
  private var changesToRead: ChangeList {
    settle()
    recordUntrackedRead()
    return changedObjects
  }
  /// The number of changed objects, for messages; many changes are not counted by kind.
  package var changesToShow: String {
    guard hasChanges else { return "no changes" }
    guard changedObjects.count <= 1000 else { return "\(changedObjects.count) changed objects" }
    return
      "\(insertedObjects.count) inserted, \(updatedObjects.count) updated and \(deletedObjects.count) deleted objects"
  }
  /// Whether the context can be replaced unnoticed: no changes, no registered objects, no errors to report, no running
  /// operation.
  package var isUnused: Bool {
    !hasChanges && registered.count == 0 && pendingErrors.isEmpty && didSaveErrors.isEmpty && hookDepth == 0
      && !isInTransaction && phase == nil && pendingSave == nil
  }
  /// All registered objects, with or without changes.
  public var registeredObjects: [ManagedObject] {
    recordUntrackedRead()
    return registered.values.map { $0.takeUnretainedValue() }
  }
}
