import MoonbaseModel

/// Checks for tests only; a healthy context returns no lines.
extension ManagedObjectContext {
  /// Checks the invariants between public calls, for tests; returns the violated ones. Each line names the object and
  /// the violation. Takes time in proportion to all registered objects.
  package func brokenInvariants() -> [String] {
    var broken = derivations.brokenInvariants + registered.brokenInvariants
    for pointer in registered.values {
      let object = pointer.takeUnretainedValue()
      let id = object.objectID
      if registeredObject(for: id) !== object { broken.append("\(id) is registered and not found") }
      if object.context !== self { broken.append("\(id) is registered and belongs to another context") }
      if object.hasChanges, !object.state.contains(.listed) { broken.append("\(id) has changes and is not listed") }
      if object.state.contains(.listed), !object.hasChanges, object.changed.isEmpty {
        broken.append("\(id) is listed without changes")
      }
      if object.state.contains(.departing) { broken.append("\(id) is departing for ever") }
      if object.isFault, object.hasLiveValues { broken.append("\(id) is a fault with values") }
      if !object.row.live.isEmpty, object.row.live.count != object.entity.properties.count {
        broken.append("\(id) has \(object.row.live.count) values")
      }
      if object.state.contains(.inserted), !object.row.isOwn { broken.append("\(id) is new without a row of its own") }
      if object.row.isOwn, !object.state.contains(.listed) || object.isInserted != (object.snapshot == nil) {
        broken.append("\(id) has a row of its own that nobody saves, or one that is not above its store's")
      }
      if object.row.isOwn, object.page?.entity != object.entity.symbol {
        broken.append("\(id) has its row in a page of others")
      }
      for (slot, known) in object.relationships where known.isLoaded && !known.changesAreLoaded {
        broken.append("\(id).\(object.entity.properties[slot].name) has changes that its destinations do not show")
      }
      broken += brokenInverses(of: object)
    }
    if !journal.isActive, journal.count > 0 { broken.append("\(journal.count) changes are kept for nobody") }
    for object in changedObjects where !object.state.contains(.listed) {
      broken.append("\(object.objectID) is in the list of changes and does not know it")
    }
    for object in changedObjects where registered[object.objectID]?.takeUnretainedValue() !== object {
      broken.append("\(object.objectID) is changed but not registered")
    }
    return broken
  }

  /// The violations of inverses: if both sides of a relationship are read, each must contain the other.
  private func brokenInverses(of object: ManagedObject) -> [String] {
    guard !object.isDeleted, !object.isFault else { return [] }
    var broken: [String] = []
    for (slot, state) in object.relationships where state.isLoaded {
      guard let inverse = object.entity.properties[slot].relationship?.inverseSlot else { continue }
      for id in state.members {
        guard let other = registered[id]?.takeUnretainedValue(), !other.isDeleted, !other.isFault,
          !other.pointsAt(object.objectID, slot: inverse)
        else { continue }
        broken.append("\(object.objectID).\(object.entity.properties[slot].name) has \(id), which does not point back")
      }
    }
    return broken
  }
}

/// For the check of inverses.
extension ManagedObject {
  /// Whether the object refers to another one by a relationship. True if that side was not read.
  fileprivate func pointsAt(_ id: ManagedObjectID, slot: Slot) -> Bool {
    if case .toOne = entity.properties[slot].kind {
      return current(slot) == .objectID(id)
    }
    guard let state = relationships[slot], state.isLoaded else { return true }
    return state.contains(id)
  }
}
