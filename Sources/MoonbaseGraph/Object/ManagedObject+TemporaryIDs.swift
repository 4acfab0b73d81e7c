import MoonbaseModel

/// Temporary IDs in values that are no changes: what awake-from-fetch sets, and transient values that a primitive setter sets. No
/// save looks at these objects, and the IDs are other ones after it.
extension ManagedObject {
  /// The next save gives the object the new IDs, where the value of a slot holds a temporary one and nothing else lists the object.
  final func keepForNewIDs(_ slot: Slot) {
    guard let context, !state.contains(.listed), holdsTemporaryID(slot) else { return }
    context.holdersOfTemporaryIDs.append(self)
  }

  private func holdsTemporaryID(_ slot: Slot) -> Bool {
    // What waits for will-save above the rows, lists the object.
    if isAdded(slot) { return false }
    guard case .toMany = entity.properties[slot].kind else { return own(slot)?.holdsTemporaryID == true }
    return relationships[slot]?.added.contains(where: \.isTemporaryID) == true
  }

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

extension ManagedObjectContext {
  /// Those that a rollback makes faults, for the objects that they name go with it. Who has changes becomes one anyway.
  var holdersToGiveUp: [ManagedObject] {
    var seen: Set<ObjectIdentifier> = []
    return holdersOfTemporaryIDs.filter { object in
      object.context === self && !object.isFault && !object.state.contains(.listed)
        && seen.insert(ObjectIdentifier(object)).inserted
    }
  }

  /// New objects have their permanent IDs: those that no save lists learn of them.
  func tellHoldersOfTemporaryIDs(_ permanent: PermanentIDs) {
    guard !permanent.isEmpty, !holdersOfTemporaryIDs.isEmpty else { return }
    for object in holdersOfTemporaryIDs { object.replaceTemporaryIDs(by: permanent) }
    // Others may wait for objects that are not saved yet.
    let isDone = !changedObjects.contains { $0.isInserted }
    if isDone { holdersOfTemporaryIDs = [] }
  }
}
