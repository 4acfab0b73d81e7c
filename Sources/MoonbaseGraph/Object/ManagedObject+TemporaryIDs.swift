import MoonbaseModel

/// Temporary IDs in values that are not saved: values that awake-from-fetch sets, and primitive transient values.
///
/// No save considers their objects, while the IDs change with a save.
extension ManagedObject {
  /// Registers the object for replacement of temporary IDs at the next save, if a slot contains one and no change lists
  /// it. Called after each value that no change records.
  final func keepForNewIDs(_ slot: Slot) {
    guard let context, !state.contains(.listed), holdsTemporaryID(slot) else { return }
    context.objectsWithTemporaryIDs.append(self)
  }

  /// Whether the object's own value contains one.
  private func holdsTemporaryID(_ slot: Slot) -> Bool {
    // A delayed value of an added attribute lists the object.
    if isAdded(slot) { return false }
    guard case .toMany = entity.properties[slot].kind else { return own(slot)?.holdsTemporaryID == true }
    return relationships[slot]?.added.contains(where: \.isTemporaryID) == true
  }

  /// Replaces temporary IDs in the object's values by permanent IDs. Values computed from such IDs are invalidated.
  final func replaceTemporaryIDs(by permanent: PermanentIDs) {
    guard context != nil else { return }
    outdateTemporaryDestinations()
    for slot in entity.properties.indices {
      if let known = relationships[slot] {
        known.replaceIDs(by: permanent)
      } else if let value = own(slot)?.replacingIDs({ permanent[$0] }) {
        restoreOwn(value, slot: slot)
        outdate(slot, because: .identity)
      }
    }
  }
}

/// Objects with temporary IDs in unlisted values.
extension ManagedObjectContext {
  /// Objects that a rollback makes faults, because objects in their values leave. Changed objects become faults anyway.
  var objectsToFaultAtRollback: [ManagedObject] {
    var seen: Set<ObjectIdentifier> = []
    return objectsWithTemporaryIDs.filter { object in
      object.context === self && !object.isFault && !object.state.contains(.listed)
        && seen.insert(ObjectIdentifier(object)).inserted
    }
  }

  /// Replaces temporary IDs in objects outside of the list of changes. Called when new objects get permanent IDs.
  func tellHoldersOfTemporaryIDs(_ permanent: PermanentIDs) {
    guard !permanent.isEmpty, !objectsWithTemporaryIDs.isEmpty else { return }
    for object in objectsWithTemporaryIDs { object.replaceTemporaryIDs(by: permanent) }
    // Some objects may still wait for objects that are not saved yet.
    let isDone = !changedObjects.contains { $0.isInserted }
    if isDone { objectsWithTemporaryIDs = [] }
  }
}
