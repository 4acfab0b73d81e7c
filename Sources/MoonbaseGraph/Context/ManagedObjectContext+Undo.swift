import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

/// Restores former states by ordinary changes, so that inverse relationships follow and all changes are recorded.
extension ManagedObjectContext {
  /// Undoes the last group of changes; does nothing without an undo manager (`UndoManager.undo`).
  public func undo() throws { try undoManager?.undo() }

  /// Repeats the last undone group of changes; does nothing without an undo manager (`UndoManager.redo`).
  public func redo() throws { try undoManager?.redo() }

  /// Opens or ends the journal's base savepoint, which is needed only for an undo manager or observers of events.
  /// Called after each change of these conditions.
  func settleUndo() {
    if let undoManager {
      guard !undoManager.isUndoing, !undoManager.isRedoing else { return }
      if undoManager.isUndoRegistrationEnabled {
        if journal.base == 0 { restartBase() }
        return
      }
      undoManager.registrationEnds()
    }
    // Observers of events read the changes from the journal.
    if changeEvent == nil {
      if journal.base != 0 { restartBase(ending: true) }
    } else if journal.base == 0 {
      restartBase()
    }
  }

  /// Restores the state before a group. Objects that left for other reasons are not restored. The changes of undoing
  /// are recorded as ordinary changes, from which redoing is made. Throws errors of the store and of values that cannot
  /// be read.
  func putBack(_ group: UndoGroup, with undo: UndoManager) throws {
    for part in group.parts.reversed() { try putBack(part, undo) }
    for passage in group.parts.lazy.flatMap(\.passages) where passage.wasThere && passage.object.context === self {
      if !passage.object.isDeleted { try passage.object.leaveDeletedDestinations() }
    }
  }

  /// Restores the state before a part: objects first, then relationships, then values. The deletions of the part come
  /// last, since they apply delete rules.
  private func putBack(_ part: UndoPart, _ undo: UndoManager) throws {
    try readAhead(part, undo)
    var returned: [(object: ManagedObject, stash: DeletedObjectState)] = []
    for passage in part.passages.reversed() where passage.wasThere {
      if let stash = try bringBack(passage, undo) { returned.append((passage.object, stash)) }
    }
    for (object, stash) in returned { try connect(object, stash, undo) }
    for step in returned.lazy.flatMap(\.stash.leads).reversed() { try putBack(step, of: part, undo) }
    for step in part.steps.reversed() { try putBack(step, of: part, undo) }
    for passage in part.passages.reversed() where !passage.wasThere {
      guard passage.object.context === self, !passage.object.isDeleted else { continue }
      markDeleted(passage.object)
    }
    try applyDeleteRulesOfEvent()
  }

  /// Reads the rows of all objects that the part needs together. This takes one request for each store instead of one
  /// for each object.
  private func readAhead(_ part: UndoPart, _ undo: UndoManager) throws {
    var ids: OrderedSet<ManagedObjectID> = []
    func note(_ id: ManagedObjectID) {
      let id = undo.currentID(id)
      if !id.isTemporaryID, registered[id] == nil { ids.append(id) }
    }
    for step in part.steps {
      if step.object.needsRow { ids.append(step.object.objectID) }
      switch step.former {
      case .value(.objectID(let id), _, _), .member(let id, _, _, _): note(id)
      default: break
      }
    }
    for stash in part.passages.compactMap(\.stash) {
      for case (_, .objectID(let id)) in stash.values { note(id) }
      for (_, list) in stash.lists { list.forEach(note) }
    }
    try loadRows(of: Array(ids))
  }

  // MARK: Objects

  /// Restores an object. If it had left the context, it becomes a new object; returns its stash for reconnecting it.
  /// Nil for an object that was only marked for deletion.
  private func bringBack(_ passage: UndoPresenceChange, _ undo: UndoManager) throws -> DeletedObjectState? {
    let object = passage.object
    undo.forgetLeaving(object)
    guard object.context !== self else {
      if object.isDeleted { object.unmarkDeleted() }
      return nil
    }
    guard object.context == nil, let stash = passage.stash else { return nil }
    let values = try stash.values.map { (slot: $0.slot, value: try object.loaded($0.value, slot: $0.slot)) }
    // The key of a saved object is never used again. A key that was only reserved stays the object's, because other
    // restored objects refer to it.
    let former = object.objectID
    let id = stash.wasSaved ? try newID(for: object.entity, insteadOf: former) : former
    if id != former { undo.noteID(id, after: former) }
    object.returnAsNew(to: self, as: id)
    arrivalCount &+= 1
    record(.absence, of: object)
    object.takeInitialValues(in: journal.current)
    if object.mark(nil, as: .listed) { changedObjects.append(object) }
    for (slot, value) in values where object.entity.properties[slot].attribute != nil {
      object.restoreOwn(value.replacingIDs { undo.laterID($0) } ?? value, slot: slot)
    }
    for (slot, value) in stash.delayed { object.restoreDelayed(value, slot: slot) }
    object.outdateAll()
    changeCount &+= 1
    return stash
  }

  /// The new ID of an object whose deletion was saved.
  ///
  /// If new objects go to another store than the object's former store, it gets its key in the former store at once.
  /// Throws errors of reserving the key.
  private func newID(for entity: ResolvedEntity, insteadOf former: ManagedObjectID) throws -> ManagedObjectID {
    guard source.hasSeveralStores,
      let store = coordinator.stores(holding: entity).first(where: {
        StoreNumber($0.identifier).rawValue == former.storeNumber
      }), !store.isReadOnly, try coordinator.storeForNewObjects(of: entity) !== store
    else { return temporaryID(for: entity) }
    let (number, key) = try SavePlan.reserveKeys(1, of: entity, in: store)
    return ManagedObjectID(store: number, entity: entity.symbol, key: key)
  }

  /// Restores the relationships of a returned object, as far as the destinations exist. Destinations that no longer
  /// exist are left out.
  private func connect(_ object: ManagedObject, _ stash: DeletedObjectState, _ undo: UndoManager) throws {
    for case (let slot, .objectID(let id)) in stash.values {
      guard let relationship = object.entity.properties[slot].relationship, let now = try present(id, undo) else {
        continue
      }
      try object.setDestination(now, slot: slot, relationship: relationship)
    }
    for (slot, list) in stash.lists {
      let ids = try list.compactMap { try present($0, undo) }
      let known = Set(ids)
      let others = try object.memberIDs(slot).filter { !known.contains($0) }
      try object.setMembers(ids + others, slot: slot)
    }
  }

  /// The current ID of an object; nil if the object does not exist. The ID may have changed since the step was
  /// recorded.
  private func present(_ id: ManagedObjectID, _ undo: UndoManager) throws -> ManagedObjectID? {
    let now = undo.currentID(id)
    return try objectIfPresent(with: now) == nil ? nil : now
  }

  // MARK: Properties

  /// Restores the former state of a property. Does nothing for an object that is deleted or gone.
  private func putBack(_ step: UndoStep, of part: UndoPart, _ undo: UndoManager) throws {
    try HostWork.charge()
    let (object, slot) = (step.object, step.slot)
    guard object.context === self, !object.isDeleted, try !isGone(object) else { return }
    switch step.former {
    case .value(let value, let transformed, let silently):
      guard let relationship = object.entity.properties[slot].relationship else {
        let value = value.replacingIDs { undo.laterID($0) } ?? value
        return try object.putBack(value, transformed: transformed, slot: slot, silently: silently)
      }
      var destination: ManagedObjectID?
      if case .objectID(let id) = value { destination = try present(id, undo) }
      try object.setDestination(destination, slot: slot, relationship: relationship)
    case .delayed(let value): object.putBackDelayed(value, slot: slot)
    case .member(let id, let isMember, let index, let isReordered):
      try putBack(id, isMember: isMember, at: index, slot: slot, of: object, undo)
      object.forgetOrder(slot, wasOrdered: !isReordered && part.epoch == undo.epoch)
    case .order(let list, let isReordered):
      let known = try Set(object.memberIDs(slot))
      let ids = OrderedSet(list.lazy.map(undo.currentID).filter(known.contains))
      try object.setMembers(ids + object.memberIDs(slot).filter { !ids.contains($0) }, slot: slot)
      object.forgetOrder(slot, wasOrdered: !isReordered && part.epoch == undo.epoch)
    case .unmarked:
      if part.epoch == undo.epoch, object.isMarked(slot) { object.unmark(slot) }
    }
  }

  /// Restores the former membership of a destination. `index` is the place in an ordered relationship.
  private func putBack(
    _ id: ManagedObjectID, isMember: Bool, at index: Int?, slot: Slot, of object: ManagedObject, _ undo: UndoManager
  ) throws {
    guard isMember else {
      let id = undo.currentID(id)
      guard try object.hasMember(id, slot: slot) else { return }
      // A new object that left has no other side. An object that was marked for deletion when it left may still have
      // one.
      if try registered[id] == nil && objectIfPresent(with: id) == nil { return try object.detach(id, slot: slot) }
      return try object.removeMember(id, slot: slot)
    }
    guard let id = try present(id, undo) else { return }
    if try !object.hasMember(id, slot: slot) {
      // A delete rule removed the member on this side only. Adding it would read both sides again, because they
      // disagree.
      if try object.isKnownDestination(of: id, slot: slot) {
        try object.attach(id, slot: slot)
      } else {
        try object.addMember(id, slot: slot)
      }
    }
    guard let index, object.entity.properties[slot].relationship?.isOrdered == true,
      let now = try object.memberIndex(of: id, slot: slot)
    else { return }
    try object.moveMember(from: now, to: min(index, object.memberCount(slot) - 1), slot: slot)
  }

  /// The objects that are affected by changes and have snapshot hooks, with the kinds of events. Each object occurs
  /// once; the event of a deletion that was undone comes before others.
  func objectsToAwake(
    of changes: some Sequence<Change>
  ) -> [(object: ManagedObject, events: SnapshotEventType)] {
    var events: OrderedDictionary<ManagedObject, SnapshotEventType> = [:]
    for change in changes where change.isChange && change.object.context === self {
      let object = change.object
      // Missing behavior is reported when the object awakes.
      if let behavior = try? behavior(of: object.entity), !behavior.hasSnapshotHooks { continue }
      events[object, default: object.isDeleted ? .undoInsertion : .undoUpdate].formUnion(
        !object.isDeleted && change.bringsBack ? .undoDeletion : [])
    }
    return events.map { object, events in
      (object, events.contains(.undoDeletion) ? .undoDeletion : events)
    }
  }

  /// Removes objects that no longer differ from their saved state from the list of changes. Otherwise an undone change
  /// would still be saved.
  func unlistUnchanged(among changes: some Sequence<Change>) {
    for object in OrderedSet(changes.lazy.map(\.object)) where object.context === self { object.unlistIfUnchanged() }
  }
}

/// IDs that changed since a step.
extension UndoManager {
  /// The current ID of an object if it differs from `id`; else nil.
  fileprivate func laterID(_ id: ManagedObjectID) -> ManagedObjectID? {
    let now = currentID(id)
    return now == id ? nil : now
  }
}
