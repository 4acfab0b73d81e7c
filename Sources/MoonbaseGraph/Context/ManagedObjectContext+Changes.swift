import DequeModule
import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

/// Deleting, discarding and refreshing.
extension ManagedObjectContext {
  /// Marks an object for deletion; delete rules are applied at the next save or `processPendingChanges`.
  ///
  /// A new object leaves the context once its delete rules are applied. Throws `.invalidObject` for an object of
  /// another context, and the errors of a `prepareForDeletion` hook. Throws `.contextBusy` while rules are checked or a
  /// derived value is computed.
  public func delete(_ object: ManagedObject) throws {
    waitForPendingSave()
    try requireOwn(object, participle: "deleted")
    try refuseWhileValidating("an object was deleted")
    try refuseWithinGetters("an object was deleted")
    // A hook that deletes its own object repeats the deletion in progress.
    guard !object.state.contains(.departing) else { return }
    // At the end of a transaction the version that was read tells whether other code changed the object meanwhile.
    if running.isInTransaction, parent != nil { try object.fireFault() }
    try prepareForDeletion(of: object)
    guard !object.isDeleted, object.context === self else { return }
    markDeleted(object)
  }

  /// Marks an object as deleted; its delete rules are applied later. Called for deletions of the program and for those
  /// of delete rules.
  func markDeleted(_ object: ManagedObject) {
    mark(object, nil, as: [.deleted, .listed])
    changedObjects.note(object)
    if object.isInserted { deletions.newObjects.append(object) }
    object.outdate(.presence)
    counters.changeCount &+= 1
    deletions.toPropagate.append(object)
    tellObservers()
  }

  /// Runs the hooks of the class and of extensions. A hook may change the object, or delete it again.
  private func prepareForDeletion(of object: ManagedObject) throws {
    let behavior = try behavior(of: object.entity)
    try object.departing {
      if behavior.hooks.contains(.prepareForDeletion) {
        try object.running("prepareForDeletion") { try object.prepareForDeletion() }
      }
      for entry in behavior.extensions { try object.run("prepareForDeletion", hook: entry.prepareForDeletion) }
    }
  }

  /// Throws if an object belongs to another context, or to none. The code is `.invalidObject`; `participle` completes
  /// the message.
  func requireOwn(_ object: ManagedObject, participle: String) throws {
    if object.context === self { return }
    throw object.context == nil
      ? object.detachedError : object.invalid("belongs to another context and cannot be \(participle) here")
  }

  /// Removes an object from the context. With `mayReturn`, an undo may bring the object back.
  package func disown(_ object: ManagedObject, because departure: ManagedObject.DetachReason, mayReturn: Bool = false) {
    object.outdateAll()
    registered.remove(object)
    object.leaveUnsaved(because: departure, mayReturn: mayReturn)
  }

  /// Discards all unsaved changes: new objects leave, deleted objects return, changed objects become faults.
  ///
  /// The undo manager forgets its undo and redo groups. Throws `.recursiveSave` and `.contextBusy` within a hook. If
  /// hooks around faults throw, the rollback is completed, discards the changes of these hooks as well, and throws the
  /// first error.
  public func rollback() throws {
    try checkOpen()
    waitForPendingSave()
    try refuseWithinHooks("a rollback was asked for")
    try refuseDiscarding("a rollback was asked for")
    defer { endChangeEvent() }
    defer { tellObservers() }
    // Changes made by hooks around faults cannot be undone either.
    defer { undoManager?.removeAllActions() }
    try discardChanges()
  }

  /// Discards all unsaved changes; see `rollback`. Objects in use by hooks stay registered as faults. Throws the first
  /// error of a hook at the end.
  func discardChanges() throws {
    var failures: [any Error] = []
    let holders = objectsToFaultAtRollback
    for object in holders { failures += object.failuresOfHooks(before: true) }
    for object in changedObjects where !object.isInserted { failures += object.failuresOfHooks(before: true) }
    let objects = changedObjects
    meetInEvent(objects)
    forgetChanges()
    // A rollback that has begun is completed: it takes no longer than the changes did.
    HostWork.note(objects.count)
    for object in objects {
      object.markUnlisted()
      if object.isInserted { disown(object, because: .rolledBack) } else { object.becomeFault() }
    }
    for object in holders where object.context === self { object.becomeFault() }
    forgetJournal()
    lifetime.sourceOfChildren?.parentRows?.forgetUnused(after: objects.count)
    observations.changeEvent?.rollback((objects + holders).filter { $0.context === self })
    for object in holders where object.context === self { failures += object.failuresOfHooks(before: false) }
    for object in objects where object.context === self { failures += object.failuresOfHooks(before: false) }
    for object in objects where object.context === self { failures += object.failuresOfAwaking(from: .rollback) }
    if let first = failures.first { throw first }
  }

  /// Empties all lists of changes; the objects are handled by the caller.
  private func forgetChanges() {
    deletions.toPropagate = []
    deletions.newObjects = []
    deletions.unclearedReferences.forgetNew()
    errors.pending = []
    retained.readObjects = []
    retained.objectsToCheck = []
    writing.objectsWithTemporaryIDs = []
    forgetReadAhead()
    derivations.stored.outdated = []
    changedObjects = []
    registered.endOwnRows()
    counters.changeCount &+= 1
  }

  /// Releases every object and discards every change, so that later requests read the stores.
  ///
  /// Released objects that are still referenced cannot be used, and nothing remains to undo or redo. Throws
  /// `.recursiveSave` and `.contextBusy` within a hook.
  public func reset() throws {
    try checkOpen()
    try releaseAllObjects(because: .reset)
  }

  /// Releases every object and discards every change, at a reset or when the context is closed. The objects become
  /// unusable. `departure` is the reason that later accesses report.
  func releaseAllObjects(because departure: ManagedObject.DetachReason) throws {
    waitForPendingSave()
    try refuseWithinHooks("a reset was asked for")
    try refuseDiscarding("a reset was asked for")
    let formerCount = registered.count
    forgetChanges()
    readAhead.hasReadLists = false
    counters.resetCount &+= 1
    registered.abandon { object in
      weigh(-object.weight)
      object.becomeAbandoned(because: departure)
    }
    retained.all = []
    forgetJournal()
    undoManager?.removeAllActions()
    observations.changeEvent?.invalidateAll()
    forgetDerivations()
    observations.observers.removeAll()
    source.forgetAllRows()
    lifetime.sourceOfChildren?.parentRows?.forgetUnused(after: formerCount)
    // Code that is notified of a closing context would fetch into the context again.
    guard departure != .closed else { return }
    tellListenersOfEverything()
    tellObservers()
    endChangeEvent()
  }

  /// Reads an object again at its next access.
  ///
  /// With `mergeChanges`, unsaved changes stay on top of the new values, otherwise they are discarded. A new object
  /// stays as it is. A refresh is no undo step. Throws for an object of another context, throws `.recursiveSave` and
  /// `.contextBusy` within a hook, and throws the error of a hook around faults after the object became a fault.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) throws {
    waitForPendingSave()
    try requireOwn(object, participle: "refreshed")
    try refuseWithinHooks("a refresh was asked for")
    guard !object.isInserted else { return }
    if !mergeChanges, object.hasChanges { try refuseDiscarding("a refresh without merging was asked for") }
    // Consequences of a refresh for other objects are hidden from the undo manager. An exception are removals that
    // follow again from a deletion: undoing the deletion has to restore them.
    let isUnregistered = journal.isUnregistered
    if try mergeChanges || object.deletedDestinations().isEmpty { journal.isUnregistered = true }
    defer {
      journal.isUnregistered = isUnregistered
      tellObservers()
    }
    source.forgetRows(of: [object.objectID])
    undoManager?.noteNewRows()
    // Without the former row it is unknown which list contained the object.
    if object.snapshot == nil, !object.entity.slotsInLists.isEmpty { counters.untrackedMoves &+= 1 }
    guard mergeChanges else { return try turnIntoFault(object) }
    counters.changeCount &+= 1
    forgetReadAhead()
    try merge(source.currentRow(of: object.objectID), into: object)
  }

  /// Gives an object the current row of its store, with unsaved changes on top. Throws the first error of an awake
  /// hook, and errors of following unsaved changes.
  func merge(_ row: Snapshot, into object: ManagedObject, because event: SnapshotEventType = .refresh) throws {
    observations.changeEvent?.refresh(object)
    object.adopt(row)
    object.forgetReadDestinations()
    try object.followUnsavedChanges()
    if object.isDeleted { try applyDeleteRulesAnew(to: object) }
    if !object.isFault, let first = object.failuresOfAwaking(from: event).first { throw first }
  }

  /// Applies delete rules again, because the store may have destinations that the rules did not reach. Newer rows of
  /// destinations are read for it. Called when a deleted object gets a newer row.
  private func applyDeleteRulesAnew(to object: ManagedObject) throws {
    for slot in object.entity.ruledSlots {
      for row in try source.snapshots(of: storedDestinations(of: object, slot: slot)) {
        registered[row.id]?.takeUnretainedValue().adopt(row)
      }
    }
    object.markUnpropagated()
    deletions.toPropagate.append(object)
  }

  /// Turns saved objects into faults (`turnIntoFault`), with a fast path for objects without hooks, observers and other
  /// state.
  ///
  /// Objects that are in use by a running operation, have unsaved changes, or left the context stay unchanged. Throws
  /// `.contextBusy` and `.recursiveSave` within a hook, and errors of hooks around faults.
  package func turnIntoFaults(_ objects: [ManagedObject]) throws {
    try refuseWithinHooks("a refresh was asked for")
    defer { tellObservers() }
    counters.changeCount &+= 1
    forgetReadAhead()
    var quiet = ContiguousArray<Bool?>(repeating: nil, count: model.entities.count)
    for object in objects where object.context === self && !object.isOnItsWay && !object.awaitsSave {
      let entity = object.entity
      let isQuiet = try quiet[entity.index] ?? (entity.toOneSlots.isEmpty && !behavior(of: entity).hasFaultHooks)
      quiet[entity.index] = isQuiet
      if isQuiet, object.becomeFaultIfClean() { continue }
      try observations.observers.holding { try turnIntoFault(object) }
    }
  }

  /// Turns a saved object into a fault. Its next access takes the values from the row cache, or else from the store.
  /// Unsaved changes of the object are discarded, and both sides of its relationships are adjusted. Throws the first
  /// error at the end.
  package func turnIntoFault(_ object: ManagedObject) throws {
    try refuseWithinHooks("a refresh was asked for")
    defer { tellObservers() }
    if object.state.contains(.hasPendingLists) { waitForPendingSave() }
    counters.changeCount &+= 1
    forgetReadAhead()
    var failures = object.failuresOfHooks(before: true)
    // Evaluated after the hooks, which may have changed these values.
    try object.noteMembersLost()
    let (partners, lists) = (object.partners, object.listsOfChangedOthers)
    let (ties, removals) = (object.unsavedTies, try object.deletedDestinations())
    object.becomeFault()
    observations.changeEvent?.refresh(object)
    failures += object.failuresOfHooks(before: false)
    for (slot, ids) in removals {
      for id in ids { _ = object.toManyState(slot).remove(id) }
      didChange(object)
    }
    for (slot, list) in lists { try restore(list, slot: slot, of: object) }
    // References to the object stay unchanged where the row has the same values.
    object.outdateAll()
    if !partners.isEmpty { try tell(partners, of: object) }
    if !ties.isEmpty, let row = try source.snapshot(of: object.objectID) {
      object.adoptRow(row)
      for tie in ties { try object.retie(tie, to: row.values[tie.slot]) }
    }
    if let first = failures.first { throw first }
  }

  /// Restores the changes of a list that were made on the members' side. The order is the object's own change and is
  /// discarded.
  private func restore(_ list: ToManyState, slot: Slot, of object: ManagedObject) throws {
    object.setRelationship(list, slot: slot)
    object.remember(.members(slot, list, list.contents))
    list.giveUpOrder()
    object.outdate(slot, because: .row)
    if list.hasChanges { didChange(object) }
  }

  /// Updates the other sides of relationships for the current row. If the row cannot be read, lists are read again.
  /// Throws errors of the store.
  private func tell(_ partners: [(slot: Slot, value: Value)], of object: ManagedObject) throws {
    do {
      let row = try source.snapshot(of: object.objectID)
      if let row { object.adoptRow(row) }
      for (slot, value) in partners { object.rowMoved(slot, from: value, to: row?.values[slot] ?? .null) }
    } catch {
      for (slot, value) in partners where object.entity.properties[slot].relationship?.isInverseToMany == true {
        object.rowMoved(slot, from: value, to: .null)
      }
      throw error
    }
  }
}

/// Refreshing everything at once.
extension ManagedObjectContext {
  /// Reads all objects again at their next access; unsaved changes stay on top of the new values (`refresh`).
  ///
  /// Throws `.recursiveSave` and `.contextBusy` within a hook. All objects are refreshed before the first error is
  /// thrown: `.objectNotFound` for an object with changes that is gone from its store, or the error of a hook around
  /// faults.
  public func refreshAllObjects() throws {
    try checkOpen()
    waitForPendingSave()
    try refuseWithinHooks("a refresh was asked for")
    let objects = registered.values.map { $0.takeUnretainedValue() }.filter { !$0.isInserted }
    source.forgetRows(of: objects.map(\.objectID))
    undoManager?.noteNewRows()
    let kept = objects.filter { $0.state.contains(.listed) || !$0.isFault && $0.hasMoreThanItsRow }
    var rows: [ManagedObjectID: Snapshot] = [:]
    for row in try source.snapshots(of: kept.map(\.objectID)) { rows[row.id] = row }
    var failures: [any Error] = []
    func trying(_ body: () throws -> Void) {
      do { try body() } catch { failures.append(error) }
    }
    counters.changeCount &+= 1
    forgetReadAhead()
    let keptOnes = Set(kept)
    for object in objects where object.context === self && !keptOnes.contains(object) {
      trying { try turnIntoFault(object) }
    }
    for object in kept where object.context === self {
      guard let row = rows[object.objectID] else {
        trying { _ = try source.currentRow(of: object.objectID) }
        continue
      }
      trying { try merge(row, into: object) }
    }
    if let first = failures.first { throw first }
  }
}

/// The objects, changes and errors of a context.
extension ManagedObjectContext {
  /// Returns and clears the errors of accessors that could not throw.
  public func drainAccessorErrors() -> [any Error] {
    defer { errors.pending = [] }
    return pendingErrors
  }

  /// Returns and clears the errors of `didSave` hooks.
  public func drainDidSaveErrors() -> [GraphError] {
    defer { errors.didSave = [] }
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
    waitForPendingSave()
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
    !hasChanges && registered.count == 0 && pendingErrors.isEmpty && didSaveErrors.isEmpty && running.hookDepth == 0
      && !running.isInTransaction && running.phase == nil && writing.pendingSave == nil
  }
  /// All registered objects, with or without changes.
  public var registeredObjects: [ManagedObject] {
    recordUntrackedRead()
    return registered.values.map { $0.takeUnretainedValue() }
  }
}

/// Estimates of the memory that objects hold, which are reported to the registry.
extension ManagedObjectContext {
  /// The growth in bytes after which the registry is notified.
  private static let weighingStride = 1 << 16

  /// Adds bytes that objects and requests hold, or subtracts released bytes. Called for each object and request, so the
  /// registry is notified only of larger changes.
  package func weigh(_ bytes: Int) {
    memory.weight &+= bytes
    if (memory.weight &- memory.reportedWeight).magnitude > UInt(Self.weighingStride) { tellWeight() }
  }

  /// Reports the change of weight to the registry. A script that owns the registry is charged.
  func tellWeight() {
    let growth = memory.weight - memory.reportedWeight
    memory.reportedWeight = memory.weight
    extensionRegistry.weigh?(growth)
  }
}
