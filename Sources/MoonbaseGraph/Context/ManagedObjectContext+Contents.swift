import MoonbaseModel

/// The objects, changes and errors that a context has.
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

  /// Whether anything waits to be saved.
  public var hasChanges: Bool { !changesToRead.isEmpty }
  /// Objects that were never saved.
  public var insertedObjects: [ManagedObject] { changesToRead.filter { $0.isInserted && !$0.isDeleted } }
  /// Saved objects with unsaved changes, primitive values among them.
  public var updatedObjects: [ManagedObject] { changesToRead.filter { !$0.isInserted && !$0.isDeleted } }
  /// Saved objects marked for deletion.
  public var deletedObjects: [ManagedObject] { changesToRead.filter { $0.isDeleted && !$0.isInserted } }
  /// The list of changes, as a getter may ask for it.
  private var changesToRead: ChangeList {
    settle()
    noteOpenRead()
    return changedObjects
  }
  /// How many objects changed, for people: of many it is not counted how.
  package var changesToShow: String {
    guard hasChanges else { return "no changes" }
    guard changedObjects.count <= 1000 else { return "\(changedObjects.count) changed objects" }
    return
      "\(insertedObjects.count) inserted, \(updatedObjects.count) updated and \(deletedObjects.count) deleted objects"
  }
  /// Whether the context can go unnoticed: it has no changes, no objects in use and no errors to report, and runs
  /// nothing.
  package var isUnused: Bool {
    !hasChanges && registered.count == 0 && pendingErrors.isEmpty && didSaveErrors.isEmpty && hookDepth == 0
      && !isInTransaction && phase == nil && saveUnderWay == nil
  }
  /// All objects that are held or have changes.
  public var registeredObjects: [ManagedObject] {
    noteOpenRead()
    return registered.values.map { $0.takeUnretainedValue() }
  }
}
