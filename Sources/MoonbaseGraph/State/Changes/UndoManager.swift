import MoonbaseModel

/// Undoes and redoes the changes of a context.
///
/// Changes are collected in groups. A group ends with `processPendingChanges`, a save, `undo` or `redo`, or explicitly
/// (`beginUndoGrouping`, `endUndoGrouping`). A group can be undone after a save, too, which makes unsaved changes.
/// Undoing a saved insertion deletes the object. Undoing a saved deletion inserts the same object again, with a new
/// row.
///
/// ```swift
/// context.undoManager = UndoManager()
/// try person.setValue("Ann", forKey: "name")
/// try context.save()
/// try context.undo()   // the name is what it was, and waits to be saved
/// ```
///
/// Like its context, a manager is confined to one executor. A rollback and a reset leave nothing to undo.
public final class UndoManager {
  /// The limit of groups that can be undone, beyond which the oldest are forgotten; 0 for no limit.
  public var levelsOfUndo = 0 { didSet { dropOldest() } }
  /// Whether `processPendingChanges` and saves end a group.
  ///
  /// Otherwise groups end explicitly, and the changes between two groups form a group, too.
  public var groupsByEvent = true
  /// Whether each call of a script that changes something is a group.
  package var groupsByCall = false
  /// Whether changes are being undone, for observers.
  public private(set) var isUndoing = false
  /// Whether changes are being redone, for observers.
  public private(set) var isRedoing = false
  /// The nesting depth of groups that `beginUndoGrouping` began.
  public private(set) var groupingLevel = 0

  /// The context; nil if it is gone, or before the manager belongs to a context.
  var context: ManagedObjectContext? { reference?.context }
  private var reference: ContextReference?
  private var undoGroups: [UndoGroup] = []
  private var redoGroups: [UndoGroup] = []
  /// The open group, without the changes that are still in the journal.
  private var openGroup: UndoGroup?
  /// The name for the open group.
  private var openName = ""
  private var disablings = 0
  /// The current IDs of objects, by the IDs under which groups know them.
  private var laterIDs = RenamedIDs()
  /// Objects that were marked for deletion and may leave with the next save.
  private var leaving: [ObjectIdentifier: UndoPresenceChange] = [:]
  /// Objects whose deletion was just saved.
  private var departed: [ManagedObjectID: UndoPresenceChange] = [:]
  /// Counts saves and unregistered changes such as refreshes and merges.
  private(set) var epoch = 0
  private var weight = 0

  /// Makes a manager, to be set as the `undoManager` of a context.
  public init() {}

  // MARK: Undoing

  /// Whether there is a group to undo.
  public var canUndo: Bool { !undoGroups.isEmpty || hasOpenSteps }
  /// Whether there is a group to redo: changes were undone, and nothing else changed since.
  public var canRedo: Bool { !redoGroups.isEmpty && !hasOpenSteps }

  /// Whether there are changes in an open group.
  package var hasOpenSteps: Bool {
    if openGroup?.isStep == true { return true }
    guard let context, context.journal.base != 0 else { return false }
    return context.journal.hasSteps
  }

  /// Undoes the last group; does nothing without a group.
  ///
  /// Throws `.invalidRequest` if a group is open or a transaction runs, `.recursiveSave` and `.contextBusy` within a
  /// hook, `.contextBusy` if an observer of an undo calls it, and the errors of a store. After such an error nothing
  /// was undone, and the call may be repeated. Errors of `awake(fromSnapshotEvents:)` are thrown when the undo is
  /// complete.
  public func undo() throws {
    guard let context = try settledContext("an undo was asked for") else { return }
    guard let group = undoGroups.last else { return }
    isUndoing = true
    defer {
      // Observers are notified when the undo is complete. An observer may have cleared the stack.
      context.tellObservers()
      isUndoing = false
      context.settleUndo()
      context.endChangeEvent()
    }
    let (inverse, failure) = try context.observations.observers.holding { try apply(group, in: context) }
    // A hook may have cleared the stack, too.
    guard undoGroups.last === group else {
      if let failure { throw failure }
      return
    }
    undoGroups.removeLast()
    redoGroups.append(inverse)
    weigh(inverse.weight &- group.weight)
    if let failure { throw failure }
  }

  /// Repeats the last undone group; does nothing if no group was undone, or if something changed since.
  ///
  /// Throws the same errors as `undo`.
  public func redo() throws {
    guard let context = try settledContext("a redo was asked for") else { return }
    guard let group = redoGroups.last else { return }
    isRedoing = true
    defer {
      context.tellObservers()
      isRedoing = false
      context.settleUndo()
      context.endChangeEvent()
    }
    let (inverse, failure) = try context.observations.observers.holding { try apply(group, in: context) }
    guard redoGroups.last === group else {
      if let failure { throw failure }
      return
    }
    redoGroups.removeLast()
    undoGroups.append(inverse)
    weigh(inverse.weight &- group.weight)
    dropOldest()
    if let failure { throw failure }
  }

  /// Ends the open group and returns the context.
  private func settledContext(_ operation: String) throws -> ManagedObjectContext? {
    guard let context else { return nil }
    try context.checkOpen()
    context.waitForPendingSave()
    try context.refuseWithinHooks(operation)
    guard context.journal.isSettled else {
      throw GraphError(.invalidRequest, message: "\(operation) within a transaction: do it before or after")
    }
    guard !isUndoing, !isRedoing else {
      throw GraphError(
        .contextBusy, message: "\(operation) while another undo or redo tells observers: do it when that is done")
    }
    guard groupingLevel == 0 else {
      throw GraphError(.invalidRequest, message: "\(operation) while a group is open: end the group first")
    }
    try context.applyDeleteRulesOfEvent()
    closeGroup()
    return context
  }

  /// Restores the state before a group. Returns the inverse group, and the first error of a snapshot hook.
  private func apply(
    _ group: UndoGroup, in context: ManagedObjectContext
  ) throws -> (inverse: UndoGroup, failure: (any Error)?) {
    // An undo can be redone even if registration is off.
    if context.journal.base == 0 { context.restartBase() }
    let isUnregistered = context.journal.isUnregistered
    context.journal.isUnregistered = false
    defer { context.journal.isUnregistered = isUnregistered }
    let (formerLeaving, idCount) = (leaving, laterIDs.count)
    do {
      try context.undoingOnFailure {
        let savepoint = context.journal.all.count
        try context.putBack(group, with: self)
        context.unlistUnchanged(among: context.journal.all.dropFirst(savepoint))
      }
    } catch {
      // Objects that had returned are marked for deletion again.
      leaving = formerLeaving
      throw error
    }
    let didSaveObservers = context.objectsToAwake(of: context.journal.all)
    let part = makePart(of: context, withIDsOf: idCount)
    context.restartBase()
    let failures = didSaveObservers.flatMap { $0.object.failuresOfAwaking(from: $0.events) }
    return (UndoGroup(part, name: group.name), failures.first)
  }

  // MARK: Groups

  /// Begins a group, or a nested group as a part of the open one. Earlier changes become a group of their own.
  ///
  /// Throws the errors of pending delete rules, and `.recursiveSave` and `.contextBusy` within a hook, whose changes
  /// would be split into two groups.
  public func beginUndoGrouping() throws {
    try context?.refuseWithinHooks("an undo group was begun")
    if groupingLevel == 0, let context, context.journal.isSettled {
      try context.applyDeleteRulesOfEvent()
      closeGroup()
      openGroup = UndoGroup()
    }
    groupingLevel += 1
  }

  /// Ends the innermost group. All changes in the outermost group are undone together, even across saves.
  ///
  /// Throws `.invalidRequest` without an open group, and `.recursiveSave` and `.contextBusy` within a hook. Also throws
  /// the errors of delete rules, after ending the group.
  public func endUndoGrouping() throws {
    try context?.refuseWithinHooks("an undo group was ended")
    guard groupingLevel > 0 else {
      throw GraphError(.invalidRequest, message: "endUndoGrouping without a group: call beginUndoGrouping first")
    }
    groupingLevel -= 1
    guard groupingLevel == 0, let context, context.journal.isSettled else { return }
    defer { closeGroup() }
    try context.applyDeleteRulesOfEvent()
  }

  /// The name of the group that `undo` would undo, for a menu; empty without a name.
  public var undoActionName: String { hasOpenSteps ? openName : undoGroups.last?.name ?? "" }
  /// The name of the group that `redo` would repeat; empty without a name.
  public var redoActionName: String { canRedo ? redoGroups.last?.name ?? "" : "" }

  /// Names the open group, or the last group if none is open.
  public func setActionName(_ name: String) {
    if groupingLevel == 0, !hasOpenSteps, let last = undoGroups.last { last.name = name } else { openName = name }
  }

  // MARK: Registration

  /// Whether changes are recorded and can be undone.
  public var isUndoRegistrationEnabled: Bool { disablings == 0 }

  /// Stops recording changes until `enableUndoRegistration` was called as often as this function.
  public func disableUndoRegistration() {
    if disablings == 0, let context, context.journal.isSettled { closeEvent() }
    disablings += 1
    registrationChanged()
  }

  /// Records changes again. Does nothing if registration is enabled.
  public func enableUndoRegistration() {
    guard disablings > 0 else { return }
    disablings -= 1
    registrationChanged()
  }

  private func registrationChanged() {
    epoch += 1
    context?.journal.isUnregistered = disablings > 0
    if context?.journal.isSettled == true { context?.settleUndo() }
  }

  /// Forgets all undo and redo groups.
  public func removeAllActions() {
    (undoGroups, redoGroups, leaving, openName) = ([], [], [:], "")
    laterIDs = RenamedIDs()
    openGroup = groupingLevel > 0 ? UndoGroup() : nil
    weigh(-weight)
    guard let context, context.journal.base != 0 else { return }
    if context.journal.isSettled { context.restartBase() } else { context.journal.unregisterAll() }
  }
}

/// Notifications by the context.
extension UndoManager {
  /// Handles being set as the undo manager of a context.
  func enter(_ new: ManagedObjectContext) {
    if let context, context !== new { context.undoManager = nil }
    reference = new.reference
    new.journal.isUnregistered = disablings > 0
  }

  /// Handles being replaced as the undo manager of the context.
  func leave() {
    removeAllActions()
    context?.journal.isUnregistered = false
    reference = nil
  }

  /// Ends an event, whose changes form a group.
  func endEvent() {
    guard groupsByEvent, groupingLevel == 0, context?.journal.isSettled == true else { return }
    closeEvent()
  }

  /// Ends a step: the changes of a call and of the delete rules that it triggered.
  ///
  /// Within a hook, a transaction or a group, the changes belong to that. Throws the errors of delete rules after
  /// ending the step.
  package func endStep() throws {
    guard let context, context.running.hookDepth == 0, context.running.phase == nil, context.journal.isSettled,
      groupingLevel == 0,
      !isUndoing, !isRedoing
    else { return }
    defer { closeGroup() }
    try context.applyDeleteRulesOfEvent()
  }

  /// Ends the changes of an event: adds them to an open explicit group, or makes them a group.
  private func closeEvent() {
    if groupingLevel > 0 { collect() } else { closeGroup() }
  }

  /// Adds the changes up to now to the open group. The group stays open unless `endSeparateGroup` makes later changes a
  /// group.
  func beginSeparateGroup() {
    guard let context, context.journal.isSettled, context.journal.base != 0, !context.journal.all.isEmpty else {
      return
    }
    if openGroup == nil { openGroup = UndoGroup() }
    collect()
  }

  /// Separates earlier changes from those of a transaction, which form a group. Within an open group both belong to it.
  func prepareForTransaction() {
    if groupsByEvent, groupingLevel == 0 { endEvent() } else { beginSeparateGroup() }
  }

  /// Ends the group that `beginSeparateGroup` left open, and makes the changes since then a group. Within an explicit
  /// group both belong to it.
  func endSeparateGroup() {
    guard groupingLevel == 0, context?.journal.isSettled == true else { return }
    endOpenGroup()
    closeGroup()
  }

  /// Ends the open group.
  private func closeGroup() {
    collect()
    if groupingLevel == 0 { endOpenGroup() }
  }

  private func endOpenGroup() {
    guard let group = openGroup else { return }
    openGroup = nil
    if group.isStep, !group.isEmpty { push(group) } else { weigh(-group.weight) }
  }

  /// Moves the changes of the journal into the open group, or into a new group.
  private func collect() {
    guard let context, context.journal.base != 0, !isUndoing, !isRedoing, !context.journal.all.isEmpty else { return }
    let isStep = context.journal.hasSteps
    add(makePart(of: context), isStep: isStep)
    context.restartBase()
  }

  /// Adds a part to the open group, or makes a group of it.
  private func add(_ part: UndoPart, isStep: Bool) {
    guard !part.isEmpty else { return }
    if openGroup == nil, !groupsByEvent { openGroup = UndoGroup() }
    if let openGroup {
      openGroup.append(part, isStep: isStep)
      weigh(part.weight)
    } else if isStep {
      weigh(part.weight)
      push(UndoGroup(part, name: ""))
    }
  }

  /// Makes a group the last one to undo; nothing can be redone from then on.
  private func push(_ group: UndoGroup) {
    (group.name, openName) = (openName, "")
    undoGroups.append(group)
    for group in redoGroups { weigh(-group.weight) }
    redoGroups = []
    dropOldest()
    forgetLaterIDs()
  }

  /// Drops the oldest groups beyond the limit.
  private func dropOldest() {
    guard levelsOfUndo > 0, undoGroups.count > levelsOfUndo else { return }
    for group in undoGroups.prefix(undoGroups.count - levelsOfUndo) { weigh(-group.weight) }
    undoGroups.removeFirst(undoGroups.count - levelsOfUndo)
    forgetLaterIDs()
  }

  /// Forgets ID changes that no group needs. In each list the first group is the oldest.
  private func forgetLaterIDs() {
    let oldest = [undoGroups.first, redoGroups.first, openGroup].compactMap { $0?.idCount }.min()
    weigh(-RenamedIDs.weight &* laterIDs.forget(before: oldest ?? laterIDs.count))
  }

  /// Makes a part of the journal's changes. Objects that left meanwhile still have their values.
  private func makePart(of context: ManagedObjectContext, withIDsOf idCount: Int? = nil) -> UndoPart {
    let changes = context.journal.all
    let part = UndoPart(changes, in: context, epoch: epoch, idCount: idCount ?? laterIDs.count)
    for change in changes {
      guard case .presence = change.former, change.object.context == nil else { continue }
      if let passage = leaving.removeValue(forKey: ObjectIdentifier(change.object)), passage.stash == nil {
        passage.stash = DeletedObjectState(change.object, wasSaved: false)
        weigh(passage.stash?.weight ?? 0)
      }
    }
    for passage in part.passages where passage.wasThere && passage.stash == nil {
      leaving[ObjectIdentifier(passage.object)] = passage
    }
    return part
  }

  private func weigh(_ bytes: Int) {
    guard bytes != 0 else { return }
    weight &+= bytes
    context?.weigh(bytes)
  }
}

/// Notifications of saves and of changed IDs.
extension UndoManager {
  /// The values of objects whose deletion is about to be saved.
  func stashes(of deleted: [ManagedObject]) throws -> [(object: ManagedObject, stash: DeletedObjectState)] {
    guard let context else { return [] }
    // Only deletions that can be undone need the values.
    let isOpen = context.journal.base != 0
    let going = deleted.filter { !$0.isInserted && (isOpen || leaving[ObjectIdentifier($0)] != nil) }
    guard !going.isEmpty else { return [] }
    try context.loadRows(of: going.filter(\.needsRow).map(\.objectID))
    return try going.compactMap { object in
      guard !object.needsRow else { return nil }
      for slot in object.entity.toManySlots { _ = try object.memberIDs(slot) }
      let stash = DeletedObjectState(object, wasSaved: true)
      try stash.requireBytes(of: object)
      return (object, stash)
    }
  }

  /// Handles a written save, before the objects are updated.
  ///
  /// The save's own changes, for example by hooks, follow the first `count` changes and belong to the last group.
  func recordSave(after count: Int, _ stashes: [(object: ManagedObject, stash: DeletedObjectState)]) {
    recordChanges(ofSaveAfter: count)
    for (object, stash) in stashes {
      guard let passage = leaving.removeValue(forKey: ObjectIdentifier(object)) else { continue }
      passage.stash = stash
      departed[object.objectID] = passage
      weigh(stash.weight)
    }
    // New IDs, or a failed save of a child context, may have left the group open.
    if groupsByEvent, groupingLevel == 0 { endOpenGroup() }
    // Deletions in a store whose save failed are still pending.
    leaving = leaving.filter { $0.value.object.context != nil && $0.value.object.isDeleted }
    epoch += 1
  }

  /// Handles a save without anything to write. Changes of its hooks belong to the last group.
  func endSave(after count: Int) {
    guard groupsByEvent, groupingLevel == 0, context?.journal.isSettled == true else { return }
    recordChanges(ofSaveAfter: count)
    endOpenGroup()
  }

  private func recordChanges(ofSaveAfter count: Int) {
    guard let context, context.journal.base != 0, !context.journal.all.isEmpty else { return }
    let isStep = context.journal.all.prefix(count).contains(where: \.isStep)
    let part = makePart(of: context)
    if !isStep, openGroup == nil, let last = undoGroups.last {
      last.append(part, isStep: false)
      weigh(part.weight)
    } else {
      add(part, isStep: isStep)
    }
    forgetStretch(of: context)
  }

  private func forgetStretch(of context: ManagedObjectContext) {
    if context.journal.isSettled { context.restartBase() } else { context.forgetJournal() }
  }

  /// Handles the references to deleted objects that were removed since `recordSave`, and are restored when the objects
  /// return.
  func recordRemovedReferences() {
    defer { departed = [:] }
    guard let context, context.journal.base != 0, !context.journal.all.isEmpty else { return }
    for step in makePart(of: context).steps {
      switch step.former {
      case .member(let id, isMember: true, _, _), .value(.objectID(let id), _, _):
        departed[id]?.stash?.leads.append(step)
        if departed[id] != nil { weigh(step.weight) }
      default: break
      }
    }
    forgetStretch(of: context)
  }

  /// Handles coming ID changes: the journal has the former IDs. The open group continues.
  func prepareForNewIDs() { beginSeparateGroup() }

  /// Records an object's new ID.
  func noteID(_ id: ManagedObjectID, after former: ManagedObjectID) {
    guard !undoGroups.isEmpty || !redoGroups.isEmpty || openGroup != nil else { return }
    laterIDs.note(id, after: former)
    weigh(RenamedIDs.weight)
  }

  /// The current ID of an object.
  func currentID(_ id: ManagedObjectID) -> ManagedObjectID { laterIDs.current(id) }

  /// The number of recorded ID changes, for tests.
  var laterIDCount: Int { laterIDs.keptCount }

  /// Handles new rows, whose values may differ from the state in which the changes were made.
  func noteNewRows() { epoch += 1 }

  /// Adds the changes that were registered up to now to a group.
  func registrationEnds() { closeEvent() }

  /// Handles the return of an object.
  func forgetLeaving(_ object: ManagedObject) { leaving[ObjectIdentifier(object)] = nil }
}
