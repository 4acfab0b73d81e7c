import DequeModule
import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

extension ManagedObjectContext {
  /// Applies delete rules to objects deleted since the last time, and ends what is undone together (`UndoManager.groupsByEvent`).
  ///
  /// Throws what a hook or a store throws; the rules that were not yet applied are applied the next time.
  public func processPendingChanges() throws {
    defer { followExtensions() }
    try mergeNews()
    try applyDeleteRulesOfEvent()
    undoManager?.endEvent()
    endChangeEvent()
  }

  /// Applies delete rules before a save, if they are not left to it.
  func applyDeleteRulesOfEvent() throws {
    if propagatesDeletesAtEndOfEvent { try applyDeleteRules() }
  }

  func applyDeleteRules() throws {
    defer { tellObservers() }
    try observers.holding { try propagateDeletions() }
  }

  private func propagateDeletions() throws {
    guard !deletionsToPropagate.isEmpty else { return try dropNewDeletedObjects() }
    propagationCount &+= 1
    propagationDepth += 1
    defer { propagationDepth -= 1 }
    var ahead = DeletionsAhead(self)
    while !deletionsToPropagate.isEmpty {
      try HostWork.charge()
      // Level by level, so that what a level leads to is read together.
      let object = deletionsToPropagate.removeFirst()
      guard object.isDeleted, !object.state.contains(.propagated) else { continue }
      try propagateDeletion(of: object, &ahead)
    }
    try dropNewDeletedObjects()
  }

  private func propagateDeletion(of object: ManagedObject, _ ahead: inout DeletionsAhead) throws {
    do {
      try object.propagating {
        // One whose row another context deleted had its rules applied there.
        let destinations = try ahead.destinations(of: object)
        if try !isGone(object) { try DeletePropagation(object: object, context: self, ahead: destinations).run() }
      }
    } catch {
      deletionsToPropagate.prepend(object)
      throw error
    }
  }

  /// New objects that were deleted before they were ever saved leave no trace, once their delete rules have run. One that a rule
  /// denies to go stays, and fails the save.
  func dropNewDeletedObjects() throws {
    guard !newDeletedObjects.isEmpty else { return }
    // One that was brought back by undoing may wait twice.
    var (going, staying): (OrderedSet<ManagedObject>, ContiguousArray<ManagedObject>) = ([], [])
    for object in newDeletedObjects where object.context === self && object.state.isSuperset(of: [.inserted, .deleted])
    {
      if try object.state.contains(.departing) || isDenied(object) {
        staying.append(object)
      } else {
        going.append(object)
      }
    }
    // The objects still have their values and are in the context: what undoes this brings them back first.
    for object in going { try releaseDestinations(of: object) }
    try LooseEnds.cut(toNew: going, in: self)
    newDeletedObjects = staying
    for object in going {
      let mayReturn = journal.records(object)
      record(.presence(object.state, position: object.changePosition), of: object, silently: true)
      changedObjects.remove(object, keepingPlaces: journal.isActive)
      disown(object, because: .deleted, mayReturn: mayReturn)
      if !mayReturn { looseLeads.forget(object) }
    }
  }

  /// Whether an object that is to go has destinations that keep it.
  func isDenied(_ object: ManagedObject) throws -> Bool { try keeper(of: object) != nil }

  /// One of those destinations.
  func keeper(of object: ManagedObject) throws -> ManagedObjectID? {
    for slot in try behavior(of: object.entity).denyingSlots {
      if let keeper = try object.remainingDestinations(slot).first { return keeper }
    }
    return nil
  }

  /// What no rule took away: the rule is `noAction`, or the other side is deleted too. There will be no row to point at.
  private func releaseDestinations(of object: ManagedObject) throws {
    let own: Set = [object.objectID]
    for slot in object.entity.toOneSlots + object.entity.toManySlots {
      guard let inverse = object.entity.properties[slot].relationship?.inverseSlot else { continue }
      for id in try object.destinationIDs(slot) {
        try registeredObject(for: id)?.release(own, slot: inverse)
      }
    }
  }
}
