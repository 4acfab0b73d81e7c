import DequeModule
import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

extension ManagedObjectContext {
  /// Marks an object for deletion; delete rules are applied at the next save or `processPendingChanges`.
  ///
  /// A new object is forgotten once that has happened.
  public func delete(_ object: ManagedObject) throws {
    settle()
    try requireOwn(object, participle: "deleted")
    try refuseWhileValidating("an object was deleted")
    try refuseWithinGetters("an object was deleted")
    // A hook that deletes its own object asks for what is already happening.
    guard !object.state.contains(.departing) else { return }
    try prepareForDeletion(of: object)
    guard !object.isDeleted, object.context === self else { return }
    markDeleted(object)
  }

  /// An object is to go; nothing that it leads to knows yet.
  func markDeleted(_ object: ManagedObject) {
    mark(object, nil, as: [.deleted, .listed])
    changedObjects.note(object)
    if object.isInserted { newDeletedObjects.append(object) }
    object.outdate(.presence)
    changeCount &+= 1
    deletionsToPropagate.append(object)
    tellObservers()
  }

  private func prepareForDeletion(of object: ManagedObject) throws {
    let behavior = try behavior(of: object.entity)
    try object.departing {
      if behavior.hooks.contains(.prepareForDeletion) {
        try object.running("prepareForDeletion") { try object.prepareForDeletion() }
      }
      for entry in behavior.extensions { try object.run("prepareForDeletion", hook: entry.prepareForDeletion) }
    }
  }

  func requireOwn(_ object: ManagedObject, participle: String) throws {
    if object.context === self { return }
    throw object.context == nil
      ? object.goneError : object.invalid("belongs to another context and cannot be \(participle) here")
  }

  /// The object is no longer of this context.
  func disown(_ object: ManagedObject, because departure: ManagedObject.Departure, mayReturn: Bool = false) {
    object.outdateAll()
    registered.remove(object)
    object.leaveUnsaved(because: departure, mayReturn: mayReturn)
  }

  /// Gives up all unsaved changes: new objects go, deleted ones return, changed ones become faults.
  ///
  /// The undo manager forgets all that it could undo and redo. Throws `.recursiveSave` and `.contextBusy` within a hook. Of hooks
  /// around faults that fail the first error is thrown when all is given up, with what these hooks changed before.
  public func rollback() throws {
    settle()
    try refuseWithinHooks("a rollback was asked for")
    try refuseGivingUp("a rollback was asked for")
    defer { endChangeEvent() }
    defer { tellObservers() }
    // What hooks around faults do goes too.
    defer { undoManager?.removeAllActions() }
    try giveUpChanges()
  }

  func giveUpChanges() throws {
    var failures: [any Error] = []
    let holders = holdersToGiveUp
    for object in holders { failures += object.failuresOfHooks(before: true) }
    for object in changedObjects where !object.isInserted { failures += object.failuresOfHooks(before: true) }
    let objects = changedObjects
    meetInEvent(objects)
    forgetChanges()
    // What was begun is finished: it takes no longer than the changes did.
    HostWork.note(objects.count)
    for object in objects {
      object.markUnlisted()
      if object.isInserted { disown(object, because: .rolledBack) } else { object.becomeFault() }
    }
    for object in holders where object.context === self { object.becomeFault() }
    forgetJournal()
    sourceOfChildren?.parentStores?.rows.forgetUnused(after: objects.count)
    changeEvent?.rollback((objects + holders).filter { $0.context === self })
    for object in holders where object.context === self { failures += object.failuresOfHooks(before: false) }
    for object in objects where object.context === self { failures += object.failuresOfHooks(before: false) }
    for object in objects where object.context === self { failures += object.failuresOfAwaking(from: .rollback) }
    if let first = failures.first { throw first }
  }

  private func forgetChanges() {
    deletionsToPropagate = []
    newDeletedObjects = []
    looseLeads.forgetNew()
    pendingErrors = []
    readObjects = []
    objectsToCheck = []
    holdersOfTemporaryIDs = []
    forgetReadAhead()
    outdatedStored = []
    changedObjects = []
    registered.endOwnRows()
    changeCount &+= 1
  }

  /// Forgets every object and every change: what comes after it reads the stores. Objects that are still held cannot be used any
  /// more, and there is nothing to undo or redo.
  ///
  /// Throws `.recursiveSave` and `.contextBusy` within a hook.
  public func reset() throws { try letGoOfAll(because: .reset) }

  /// Forgets every object and every change, at a reset or as the context is closed.
  func letGoOfAll(because departure: ManagedObject.Departure) throws {
    settle()
    try refuseWithinHooks("a reset was asked for")
    try refuseGivingUp("a reset was asked for")
    let formerCount = registered.count
    forgetChanges()
    hasReadLists = false
    resetCount &+= 1
    registered.abandon { object in
      weigh(-object.weight)
      object.becomeAbandoned(because: departure)
    }
    keptObjects = []
    forgetJournal()
    undoManager?.removeAllActions()
    changeEvent?.invalidateAll()
    forgetDerivations()
    observers.removeAll()
    source.forgetAllRows()
    sourceOfChildren?.parentStores?.rows.forgetUnused(after: formerCount)
    tellListenersOfEverything()
    tellObservers()
    endChangeEvent()
  }

  /// Reads an object anew at its next access.
  ///
  /// With `mergeChanges` its unsaved changes stay on top of the new values; without, they are given up. A new object has nothing
  /// to be read and stays as it is. It is no undo step. Throws for an object of another context, `.recursiveSave` and `.contextBusy` within a hook, and
  /// what a hook around a fault throws, after the object became one.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) throws {
    settle()
    try requireOwn(object, participle: "refreshed")
    try refuseWithinHooks("a refresh was asked for")
    guard !object.isInserted else { return }
    if !mergeChanges, object.hasChanges { try refuseGivingUp("a refresh without merging was asked for") }
    // What others give up with it is no step that could be undone, but for what follows from a deletion once more: who takes that
    // back would not know of it.
    let isUnregistered = journal.isUnregistered
    if try mergeChanges || object.deletedDestinations().isEmpty { journal.isUnregistered = true }
    defer {
      journal.isUnregistered = isUnregistered
      tellObservers()
    }
    source.forgetRows(of: [object.objectID])
    undoManager?.noteNewRows()
    // The row was not here, so nobody can tell which list it was in.
    if object.snapshot == nil, !object.entity.slotsInLists.isEmpty { unseenMoves &+= 1 }
    guard mergeChanges else { return try turnIntoFault(object) }
    changeCount &+= 1
    forgetReadAhead()
    try merge(source.currentRow(of: object.objectID), into: object)
  }

  /// An object takes a row as the store has it now, with its unsaved changes on top.
  func merge(_ row: Snapshot, into object: ManagedObject, because event: SnapshotEventType = .refresh) throws {
    changeEvent?.refresh(object)
    object.adopt(row)
    object.forgetReadDestinations()
    try object.followUnsavedChanges()
    if object.isDeleted { try applyDeleteRulesAnew(to: object) }
    if !object.isFault, let first = object.failuresOfAwaking(from: event).first { throw first }
  }

  /// The store may know of destinations that the rules did not reach; and of some, by newer rows than are here.
  private func applyDeleteRulesAnew(to object: ManagedObject) throws {
    for slot in object.entity.ruledSlots {
      for row in try source.snapshots(of: storedDestinations(of: object, slot: slot)) {
        registered[row.id]?.takeUnretainedValue().adopt(row)
      }
    }
    object.markUnpropagated()
    deletionsToPropagate.append(object)
  }

  /// Gives up the values of objects that a save has written (`turnIntoFault`): where nobody hears of it and nothing but the row is known
  /// of them, at once. Those that are on their way, wait for another save, or are gone stay as they are.
  package func turnIntoFaults(_ objects: [ManagedObject]) throws {
    try refuseWithinHooks("a refresh was asked for")
    defer { tellObservers() }
    changeCount &+= 1
    forgetReadAhead()
    var quiet = ContiguousArray<Bool?>(repeating: nil, count: model.entities.count)
    for object in objects where object.context === self && !object.isOnItsWay && !object.awaitsSave {
      let entity = object.entity
      let isQuiet = try quiet[entity.index] ?? (entity.toOneSlots.isEmpty && !behavior(of: entity).hasFaultHooks)
      quiet[entity.index] = isQuiet
      if isQuiet, object.becomeFaultQuietly() { continue }
      try observers.holding { try turnIntoFault(object) }
    }
  }

  /// Gives up the values of a saved object, which the next access takes from the row cache, or else from the store.
  package func turnIntoFault(_ object: ManagedObject) throws {
    try refuseWithinHooks("a refresh was asked for")
    defer { tellObservers() }
    if object.state.contains(.listsUnderWay) { settle() }
    changeCount &+= 1
    forgetReadAhead()
    var failures = object.failuresOfHooks(before: true)
    // Looked at after the hooks, which may have changed them.
    try object.noteMembersLost()
    let (partners, lists) = (object.partners, object.listsOfChangedOthers)
    let (ties, removals) = (object.unsavedTies, try object.deletedDestinations())
    object.becomeFault()
    changeEvent?.refresh(object)
    failures += object.failuresOfHooks(before: false)
    for (slot, ids) in removals {
      for id in ids { _ = object.toManyState(slot).remove(id) }
      didChange(object)
    }
    for (slot, list) in lists { try restore(list, slot: slot, of: object) }
    // What others know by the row stays where the row says the same.
    object.outdateAll()
    if !partners.isEmpty { try tell(partners, of: object) }
    if !ties.isEmpty, let row = try source.snapshot(of: object.objectID) {
      object.takeRow(row)
      for tie in ties { try object.retie(tie, to: row.values[tie.slot]) }
    }
    if let first = failures.first { throw first }
  }

  /// Restores the changes of a list that belong to its members. The order belongs to the object itself and is given up.
  private func restore(_ list: ToManyState, slot: Slot, of object: ManagedObject) throws {
    object.setRelationship(list, slot: slot)
    object.remember(.members(slot, list, list.contents))
    list.giveUpOrder()
    object.outdate(slot, because: .row)
    if list.hasChanges { didChange(object) }
  }

  /// Tells other sides where the row of an object points now. Where it cannot be read, lists are read anew.
  private func tell(_ partners: [(slot: Slot, value: Value)], of object: ManagedObject) throws {
    do {
      let row = try source.snapshot(of: object.objectID)
      if let row { object.takeRow(row) }
      for (slot, value) in partners { object.rowMoved(slot, from: value, to: row?.values[slot] ?? .null) }
    } catch {
      for (slot, value) in partners where object.entity.properties[slot].relationship?.isInverseToMany == true {
        object.rowMoved(slot, from: value, to: .null)
      }
      throw error
    }
  }
}
