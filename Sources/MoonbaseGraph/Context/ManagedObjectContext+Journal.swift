import DequeModule
import MoonbaseModel
import MoonbasePlatform

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
      if journal.hasNewWeight { weigh(journal.takeGrowth()) }
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
    if journal.hasNewWeight { weigh(journal.takeGrowth()) }
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
    return try observers.holding { try undoingOnFailure(body) }
  }

  /// Ends a savepoint. After the outermost savepoint, objects that left the context release their values. Call it for
  /// each savepoint, in reverse order.
  func endSavepoint(_ savepoint: ChangeJournal.Savepoint) {
    letGo(journal.end(savepoint))
    // No savepoint restores the changes that an undo manager has taken.
    guard journal.isSettled else { return }
    changedObjects.closeUpIfSparse()
    ownersToRecheck = []
    if undoManager != nil || journal.base != 0 || changeEvent != nil { settleUndo() }
  }

  /// Restarts the base savepoint after the undo manager has taken its changes, or ends it if it is no longer used.
  /// Called at the end of an undo group.
  func restartBase(ending: Bool = false) {
    noteEvent()
    letGo(ending ? journal.endBase() : journal.beginBase())
    changedObjects.closeUpIfSparse()
    ownersToRecheck = []
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
    if journal.hasNewWeight { weigh(journal.takeGrowth()) }
  }

  /// Undoes the changes since a savepoint, except for objects that `isKept` accepts.
  ///
  /// Changes are reverted one by one in reverse order, including changes of rows and read destinations. Newer rows and
  /// destinations that were read meanwhile are applied again at the end. The caller notifies observers. Takes time in
  /// proportion to the number of changes.
  func undo(since savepoint: ChangeJournal.Savepoint, keeping isKept: (ManagedObject) -> Bool = { _ in false }) {
    var readings = NewerReads()
    let changes = journal.take(since: savepoint)
    HostWork.note(changes.count)
    for change in changes where !isKept(change.object) {
      // This change will not be redone.
      if case .presence? = revert(change, noting: &readings)?.former { change.object.letGo(of: self) }
    }
    readings.takeIn()
    for owner in ownersToRecheck where owner.context === self { owner.forgetSavedLists() }
    changeCount &+= 1
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
  fileprivate func takeIn() {
    for (object, slot) in lists {
      if let state = object.relationships[slot], state.isLoaded { object.unload(state, slot: slot) }
    }
    for (object, row) in rows.values where object.context != nil { object.takeIn(later: row) }
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
    arrivalCount &+= 1
    changedObjects.putBack(object, at: position)
    if state.isSuperset(of: [.inserted, .deleted]) { newDeletedObjects.append(object) }
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
    if awaitsRules(now), !awaitsRules(former) { deletionsToPropagate.append(object) }
    object.outdate(now.contains(.deleted) == former.contains(.deleted) ? .state : .presence)
  }
}
