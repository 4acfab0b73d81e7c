import DequeModule
import MoonbaseModel
import MoonbasePlatform

/// The one door of changes, and the way back through it.
extension ManagedObjectContext {
  /// Something of an object is about to be another, or just became so: what was there before is kept where it may be wanted back,
  /// and what was computed from it does not hold any more. One that rows or others cause is silent.
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

  /// The same of a value of a row that nothing was made or computed from and nobody observes.
  @inline(__always)
  func recordValue(_ slot: Slot, of object: ManagedObject) {
    if journal.records(object) { record(object.own(slot), slot, of: object) }
  }

  /// The same where it is known that the journal keeps it, and what it was.
  @inline(__always)
  func record(_ own: Value?, _ slot: Slot, of object: ManagedObject) {
    journal.append(object, slot, own, isMarked: object.isMarked(slot))
    if journal.hasNewWeight { weigh(journal.takeGrowth()) }
  }

  /// Runs `body`; on an error all that it changed here is as it was.
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

  /// Does the same as one change: observers are called after the body.
  package func changingTogether<Result>(_ body: () throws -> Result) throws -> Result {
    defer { tellObservers() }
    return try observers.holding { try undoingOnFailure(body) }
  }

  /// Ends a savepoint: once nothing can be undone, who left for good keeps no values.
  func endSavepoint(_ savepoint: ChangeJournal.Savepoint) {
    letGo(journal.end(savepoint))
    // What an undo manager has kept, no savepoint puts back.
    guard journal.isSettled else { return }
    changedObjects.closeUpIfSparse()
    ownersInDoubt = []
    if undoManager != nil || journal.base != 0 || changeEvent != nil { settleUndo() }
  }

  /// The undo manager took what the base kept, or nobody wants it: it begins anew, or ends.
  func restartBase(ending: Bool = false) {
    noteEvent()
    letGo(ending ? journal.endBase() : journal.beginBase())
    changedObjects.closeUpIfSparse()
    ownersInDoubt = []
  }

  /// What happened up to now cannot be undone any more, for it was saved or given up.
  func forgetJournal() {
    noteEvent()
    letGo(journal.forget())
  }

  private func letGo(_ departed: [ManagedObject]) {
    for object in departed where object.context == nil { object.letGo(of: self) }
    if journal.hasNewWeight { weigh(journal.takeGrowth()) }
  }

  /// Undoes what was changed since a savepoint, but for objects that are to keep it.
  ///
  /// Change by change everything is put back as it was, rows and read destinations too. What was read meanwhile is newer than
  /// these, and is taken in at the end as it would have been without the changes.
  func undo(since savepoint: ChangeJournal.Savepoint, keeping isKept: (ManagedObject) -> Bool = { _ in false }) {
    var readings = LaterReadings()
    let changes = journal.take(since: savepoint)
    HostWork.note(changes.count)
    for change in changes where !isKept(change.object) {
      // Nobody will do it again.
      if case .presence? = revert(change, noting: &readings)?.former { change.object.letGo(of: self) }
    }
    readings.takeIn()
    for owner in ownersInDoubt where owner.context === self { owner.forgetSavedLists() }
    changeCount &+= 1
  }
}

/// What was read since a savepoint, of rows and destinations that undoing puts back as they were before.
struct LaterReadings {
  private var rows: [ObjectIdentifier: (object: ManagedObject, row: Snapshot)] = [:]
  private var lists: [(object: ManagedObject, slot: Slot)] = []

  /// Of several rows of an object the one that is noted first is the newest.
  fileprivate mutating func note(_ row: Snapshot, of object: ManagedObject) {
    if rows[ObjectIdentifier(object)] == nil { rows[ObjectIdentifier(object)] = (object, row) }
  }

  fileprivate mutating func noteList(of object: ManagedObject, _ slot: Slot) { lists.append((object, slot)) }

  fileprivate func takeIn() {
    for (object, slot) in lists {
      if let state = object.relationships[slot], state.isLoaded { object.unload(state, slot: slot) }
    }
    for (object, row) in rows.values where object.context != nil { object.takeIn(later: row) }
  }
}

extension ManagedObjectContext {
  /// Puts back what was there before a change; returns the change that this is, nil where the object is not of this context any
  /// more.
  @discardableResult
  func revert(_ change: Change, noting readings: inout LaterReadings) -> Change? {
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

  private func enter(_ object: ManagedObject, state: ManagedObject.State, position: Int) {
    object.enter(self, state: state)
    arrivalCount &+= 1
    changedObjects.putBack(object, at: position)
    if state.isSuperset(of: [.inserted, .deleted]) { newDeletedObjects.append(object) }
    object.outdateAll()
  }

  private func relationshipReturned(_ slot: Slot, of object: ManagedObject, member: ManagedObjectID? = nil) {
    object.weighRelationships()
    object.outdate(slot, member: member)
  }

  /// The lists follow what the object is again.
  private func restore(_ flags: ManagedObject.Flags, of object: ManagedObject, _ body: () -> Void) {
    let former = object.state
    body()
    let now = object.state
    if former.contains(.listed), !now.contains(.listed) {
      changedObjects.remove(object, keepingPlaces: journal.isActive)
      // What is undone after this finds the object's values beside the store's row.
      object.spillRow()
      object.dropEmptyOwnValues()
    }
    if now.contains(.listed), !former.contains(.listed) { changedObjects.putBack(object, at: flags.position) }
    func awaitsRules(_ state: ManagedObject.State) -> Bool { state.contains(.deleted) && !state.contains(.propagated) }
    if awaitsRules(now), !awaitsRules(former) { deletionsToPropagate.append(object) }
    object.outdate(now.contains(.deleted) == former.contains(.deleted) ? .state : .presence)
  }
}
