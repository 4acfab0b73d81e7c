import DequeModule
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
    if observations.changeEvent == nil {
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
    counters.arrivalCount &+= 1
    record(.absence, of: object)
    object.setInitialValues(in: journal.current)
    if object.mark(nil, as: .listed) { changedObjects.append(object) }
    for (slot, value) in values where object.entity.properties[slot].attribute != nil {
      object.restoreOwn(value.replacingIDs { undo.laterID($0) } ?? value, slot: slot)
    }
    for (slot, value) in stash.delayed { object.restoreDelayed(value, slot: slot) }
    object.outdateAll()
    counters.changeCount &+= 1
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

/// Recording of changes, and undoing them.
extension ManagedObjectContext {
  /// Records the former state of an object before a change, if it may have to be undone, and invalidates derived
  /// values.
  ///
  /// Changes that come from rows or as consequences are silent. The former state is evaluated only while a savepoint is
  /// active. `facet` names the changed part, for observers and derived values.
  func record(
    _ former: @autoclosure () -> Change.Former, of object: ManagedObject, _ facet: Facet? = nil,
    because cause: Derivations.Cause = .change, silently: Bool = false
  ) {
    if journal.records(object) {
      journal.append(Change(object: object, former: former(), isSilent: silently || cause == .row))
      if journal.hasNewWeight { weigh(journal.drainGrowth()) }
    }
    if let facet, derivations.isWatching || object.isWatched { outdate(object, facet, because: cause) }
  }

  /// Records the former value of a row's slot, for an object without dependent values and observers.
  @inline(__always)
  func recordValue(_ slot: Slot, of object: ManagedObject) {
    if journal.records(object) { record(object.own(slot), slot, of: object) }
  }

  /// Records a known former value of a row's slot, when the journal is known to be recording. The caller has checked
  /// `journal.records`.
  @inline(__always)
  func record(_ own: Value?, _ slot: Slot, of object: ManagedObject) {
    journal.append(object, slot, own, isMarked: object.isMarked(slot))
    if journal.hasNewWeight { weigh(journal.drainGrowth()) }
  }

  /// Runs `body`; if it throws, all its changes in this context are undone. Hooks, observers and errors within see the
  /// changes of `body`. Savepoints may nest.
  package func undoingOnFailure<Result>(_ body: () throws -> Result) throws -> Result {
    let savepoint = journal.begin()
    defer {
      endSavepoint(savepoint)
      tellObservers()
    }
    do {
      return try body()
    } catch {
      undo(since: savepoint)
      throw error
    }
  }

  /// Runs `body` as one change: an error undoes all of it, and observers are called at the end.
  package func changingTogether<Result>(_ body: () throws -> Result) throws -> Result {
    defer { tellObservers() }
    return try observations.observers.holding { try undoingOnFailure(body) }
  }

  /// Ends a savepoint. After the outermost savepoint, objects that left the context release their values. Call it for
  /// each savepoint, in reverse order.
  func endSavepoint(_ savepoint: ChangeJournal.Savepoint) {
    letGo(journal.end(savepoint))
    // No savepoint restores the changes that an undo manager has taken.
    guard journal.isSettled else { return }
    changedObjects.closeUpIfSparse()
    writing.ownersToRecheck = []
    if undoManager != nil || journal.base != 0 || observations.changeEvent != nil { settleUndo() }
  }

  /// Restarts the base savepoint after the undo manager has taken its changes, or ends it if it is no longer used.
  /// Called at the end of an undo group.
  func restartBase(ending: Bool = false) {
    noteEvent()
    letGo(ending ? journal.endBase() : journal.beginBase())
    changedObjects.closeUpIfSparse()
    writing.ownersToRecheck = []
  }

  /// Forgets all changes, which were saved or discarded and cannot be undone. Called after a save, a rollback and a
  /// reset.
  func forgetJournal() {
    noteEvent()
    letGo(journal.forget())
  }

  /// Releases the values of objects that left the context for good. Objects that an undo may bring back keep their
  /// values until then.
  private func letGo(_ departed: [ManagedObject]) {
    for object in departed where object.context == nil { object.letGo(of: self) }
    if journal.hasNewWeight { weigh(journal.drainGrowth()) }
  }

  /// Undoes the changes since a savepoint, except for objects that `isKept` accepts.
  ///
  /// Changes are reverted one by one in reverse order, including changes of rows and read destinations. Newer rows and
  /// destinations that were read meanwhile are applied again at the end. The caller notifies observers. Takes time in
  /// proportion to the number of changes.
  func undo(since savepoint: ChangeJournal.Savepoint, keeping isKept: (ManagedObject) -> Bool = { _ in false }) {
    var readings = NewerReads()
    let changes = journal.removeChanges(since: savepoint)
    HostWork.note(changes.count)
    for change in changes where !isKept(change.object) {
      // This change will not be redone.
      if case .presence? = revert(change, noting: &readings)?.former { change.object.letGo(of: self) }
    }
    readings.applyNewerRows()
    for owner in writing.ownersToRecheck where owner.context === self { owner.forgetSavedLists() }
    counters.changeCount &+= 1
  }
}

/// Newer rows and destinations that were read since a savepoint, while undoing restores older ones.
///
/// Made by each `undo`. An older row that the undoing restores would hide changes of the store.
struct NewerReads {
  /// The newest rows by object.
  private var rows: [ObjectIdentifier: (object: ManagedObject, row: Snapshot)] = [:]
  /// The relationships that were read.
  private var lists: [(object: ManagedObject, slot: Slot)] = []

  /// Records a row. The first recorded row of an object is the newest, as changes are reverted in reverse order.
  fileprivate mutating func note(_ row: Snapshot, of object: ManagedObject) {
    if rows[ObjectIdentifier(object)] == nil { rows[ObjectIdentifier(object)] = (object, row) }
  }

  /// Records that a relationship was read.
  fileprivate mutating func noteList(of object: ManagedObject, _ slot: Slot) { lists.append((object, slot)) }

  /// Applies the newer rows, and lets the next access read relationships again.
  fileprivate func applyNewerRows() {
    for (object, slot) in lists {
      if let state = object.relationships[slot], state.isLoaded { object.unload(state, slot: slot) }
    }
    for (object, row) in rows.values where object.context != nil { object.adopt(later: row) }
  }
}

/// Single changes of the journal.
extension ManagedObjectContext {
  /// Restores the state before a change; returns the inverse change, or nil if the object has left the context. The
  /// inverse change is used for redoing. The cases of `Change.Former` decide what is restored.
  @discardableResult
  func revert(_ change: Change, noting readings: inout NewerReads) -> Change? {
    let object = change.object
    if case .presence(let state, let position) = change.former {
      enter(object, state: state, position: position)
      return Change(object: object, former: .absence)
    }
    guard object.context === self else { return nil }
    let inverse: Change.Former
    switch change.former {
    case .value(let own):
      inverse = object.formerValue(own.slot)
      object.restoreOwn(own.value, slot: own.slot)
      object.restoreMark(own.isMarked, slot: own.slot)
      object.outdate(own.slot)
      if let transformed = own.transformed {
        object.cache(ManagedObject.Cached(value: transformed), slot: own.slot)
      }
    case .delayed(let slot, let value):
      inverse = .delayed(slot, object.delayed[slot])
      object.restoreDelayed(value, slot: slot)
      object.outdate(slot)
    case .flags(let flags):
      inverse = .flags(object.flags(flags.slot))
      restore(flags, of: object) { object.restore(flags) }
    case .destination(let state, let step):
      inverse = .destination(state, state.step(of: step.id, slot: step.slot))
      state.restore(step)
      relationshipReturned(step.slot, of: object, member: state.tellsMembership(of: step) ? step.id : nil)
    case .order(let slot, let state, let contents):
      inverse = .order(slot, state, state.contents)
      state.restore(contents)
      relationshipReturned(slot, of: object)
    case .members(let slot, let state, let contents):
      inverse = .members(slot, state, state.contents)
      if contents.isLoaded, !state.isLoaded { readings.noteList(of: object, slot) }
      state.restore(contents)
      relationshipReturned(slot, of: object)
    case .row(let reading):
      inverse = .row(object.reading)
      if let row = object.snapshot { readings.note(row, of: object) }
      restore(reading.flags, of: object) { object.restore(reading) }
      object.outdateAll(because: .change)
    case .absence:
      inverse = .presence(object.state, position: object.changePosition)
      changedObjects.remove(object, keepingPlaces: journal.isActive)
      disown(object, because: .rolledBack, mayReturn: true)
    case .presence: return nil
    }
    changedObjects.note(object)
    return Change(object: object, former: inverse)
  }

  /// Restores the removal of an object: it returns in the state that it had. The object takes its former place in the
  /// list of changes.
  private func enter(_ object: ManagedObject, state: ManagedObject.State, position: Int) {
    object.enter(self, state: state)
    counters.arrivalCount &+= 1
    changedObjects.putBack(object, at: position)
    if state.isSuperset(of: [.inserted, .deleted]) { deletions.newObjects.append(object) }
    object.outdateAll()
  }

  /// Informs observers of a restored relationship.
  private func relationshipReturned(_ slot: Slot, of object: ManagedObject, member: ManagedObjectID? = nil) {
    object.weighRelationships()
    object.outdate(slot, member: member)
  }

  /// Restores an object's state, and updates the lists that depend on it. `body` restores the values themselves.
  private func restore(_ flags: ManagedObject.Flags, of object: ManagedObject, _ body: () -> Void) {
    let former = object.state
    body()
    let now = object.state
    if former.contains(.listed), !now.contains(.listed) {
      changedObjects.remove(object, keepingPlaces: journal.isActive)
      // Changes that are undone next find the object's values beside the store's row.
      object.spillRow()
      object.dropEmptyOwnValues()
    }
    if now.contains(.listed), !former.contains(.listed) { changedObjects.putBack(object, at: flags.position) }
    func awaitsRules(_ state: ManagedObject.State) -> Bool { state.contains(.deleted) && !state.contains(.propagated) }
    if awaitsRules(now), !awaitsRules(former) { deletions.toPropagate.append(object) }
    object.outdate(now.contains(.deleted) == former.contains(.deleted) ? .state : .presence)
  }
}
