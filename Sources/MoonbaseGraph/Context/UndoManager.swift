import MoonbaseModel

/// Undoes and redoes the changes of a context.
///
/// What happened is put together in groups. A group ends with `processPendingChanges`, a save, `undo` or `redo`, or where it is said
/// (`beginUndoGrouping`, `endUndoGrouping`). It can be undone after a save too: that is an unsaved change then. An insertion that was
/// saved is undone by a deletion, and a deletion by an insertion of the same object, which gets a new row.
///
/// ```swift
/// context.undoManager = UndoManager()
/// try person.setValue("Ann", forKey: "name")
/// try context.save()
/// try context.undo()   // the name is what it was, and waits to be saved
/// ```
///
/// Like its context it is confined to one executor. A rollback and a reset leave nothing to undo.
public final class UndoManager {
  /// How many groups can be undone; the oldest ones are forgotten. 0 for any number.
  public var levelsOfUndo = 0 { didSet { dropOldest() } }
  /// Whether `processPendingChanges` and saves end a group. Otherwise a group ends where that is said, and what changes outside of such
  /// ones is one group until the next one begins.
  public var groupsByEvent = true
  /// Whether each call of a script that changes something is a group.
  package var groupsByCall = false
  /// Whether changes are being undone, for observers.
  public private(set) var isUndoing = false
  /// Whether changes are being redone, for observers.
  public private(set) var isRedoing = false
  /// How many groups are open within each other, of those that were begun with `beginUndoGrouping`.
  public private(set) var groupingLevel = 0

  var context: ManagedObjectContext? { reference?.context }
  private var reference: ContextReference?
  private var undoGroups: [UndoGroup] = []
  private var redoGroups: [UndoGroup] = []
  /// What belongs to a group that has not ended, without what is still in the journal.
  private var openGroup: UndoGroup?
  /// The name of the group that will end next.
  private var openName = ""
  private var disablings = 0
  /// The IDs that objects have now, by those that groups know them by.
  private var laterIDs = LaterIDs()
  /// Objects that were marked for deletion and may leave with the next save.
  private var leaving: [ObjectIdentifier: UndoPassage] = [:]
  /// Objects whose deletion was just saved.
  private var departed: [ManagedObjectID: UndoPassage] = [:]
  /// Another number after each save and each change that is not registered, a refresh and a merge among them.
  private(set) var epoch = 0
  private var weight = 0

  /// Makes a manager for the context of which it becomes the `undoManager`.
  public init() {}

  // MARK: Undoing

  /// Whether there is anything to undo.
  public var canUndo: Bool { !undoGroups.isEmpty || hasOpenSteps }
  /// Whether there is anything to redo: what was undone, as long as nothing else changed.
  public var canRedo: Bool { !redoGroups.isEmpty && !hasOpenSteps }

  /// Whether there are changes that belong to a group that has not ended.
  package var hasOpenSteps: Bool {
    if openGroup?.isStep == true { return true }
    guard let context, context.journal.base != 0 else { return false }
    return context.journal.hasSteps
  }

  /// Undoes the last group; does nothing where there is none.
  ///
  /// Throws `.invalidRequest` where a group is open or a transaction runs, `.recursiveSave` and `.contextBusy` within a hook,
  /// `.contextBusy` where an observer answers to another undoing with it, and what a store throws. Then nothing was undone, and can be
  /// later. What `awake(fromSnapshotEvents:)` throws is thrown when all is undone.
  public func undo() throws {
    guard let context = try settledContext("an undo was asked for") else { return }
    guard let group = undoGroups.last else { return }
    isUndoing = true
    defer {
      // Who observes objects is told when all is back, and may have everything forgotten.
      context.tellObservers()
      isUndoing = false
      context.settleUndo()
      context.endChangeEvent()
    }
    let (inverse, failure) = try context.observers.holding { try apply(group, in: context) }
    // So may hooks.
    guard undoGroups.last === group else {
      if let failure { throw failure }
      return
    }
    undoGroups.removeLast()
    redoGroups.append(inverse)
    weigh(inverse.weight &- group.weight)
    if let failure { throw failure }
  }

  /// Does again what was undone last; does nothing where nothing was, or where something changed since.
  ///
  /// Throws what `undo` throws.
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
    let (inverse, failure) = try context.observers.holding { try apply(group, in: context) }
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

  /// The context, with the open group ended.
  private func settledContext(_ operation: String) throws -> ManagedObjectContext? {
    guard let context else { return nil }
    context.settle()
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

  /// Puts a group back; the result is the one that does it again, and the first error of the hooks that heard of it.
  private func apply(
    _ group: UndoGroup, in context: ManagedObjectContext
  ) throws -> (inverse: UndoGroup, failure: (any Error)?) {
    // While registration is off, undoing can be redone all the same.
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
      // Those that had come back are to go again.
      leaving = formerLeaving
      throw error
    }
    let hearers = context.snapshotHearers(of: context.journal.all)
    let part = takeStretch(of: context, withIDsOf: idCount)
    context.restartBase()
    let failures = hearers.flatMap { $0.object.failuresOfAwaking(from: $0.events) }
    return (UndoGroup(part, name: group.name), failures.first)
  }

  // MARK: Groups

  /// Begins a group, within another one as a part of that. Ends what changed before.
  ///
  /// Throws what delete rules throw that had to be applied, and `.recursiveSave` and `.contextBusy` within a hook: half of what was done
  /// would be in another group.
  public func beginUndoGrouping() throws {
    try context?.refuseWithinHooks("an undo group was begun")
    if groupingLevel == 0, let context, context.journal.isSettled {
      try context.applyDeleteRulesOfEvent()
      closeGroup()
      openGroup = UndoGroup()
    }
    groupingLevel += 1
  }

  /// Ends the group that was begun last. What changed in the outermost one is undone together, across saves too.
  ///
  /// Throws `.invalidRequest` where none is open, `.recursiveSave` and `.contextBusy` within a hook; and what delete rules throw, but then the
  /// group is ended.
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

  /// The name of what `undo` would undo, for a menu; empty where it has none.
  public var undoActionName: String { hasOpenSteps ? openName : undoGroups.last?.name ?? "" }
  /// The name of what `redo` would do again; empty where it has none.
  public var redoActionName: String { canRedo ? redoGroups.last?.name ?? "" : "" }

  /// Names the group that is open, or the last one where nothing is.
  public func setActionName(_ name: String) {
    if groupingLevel == 0, !hasOpenSteps, let last = undoGroups.last { last.name = name } else { openName = name }
  }

  // MARK: Registration

  /// Whether changes are noted, so that they can be undone.
  public var isUndoRegistrationEnabled: Bool { disablings == 0 }

  /// What changes from now on cannot be undone, until `enableUndoRegistration` was called as often as this.
  public func disableUndoRegistration() {
    if disablings == 0, let context, context.journal.isSettled { closeEvent() }
    disablings += 1
    registrationChanged()
  }

  /// Changes are noted again. Does nothing where they are.
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

  /// Forgets all that could be undone and redone.
  public func removeAllActions() {
    (undoGroups, redoGroups, leaving, openName) = ([], [], [:], "")
    laterIDs = LaterIDs()
    openGroup = groupingLevel > 0 ? UndoGroup() : nil
    weigh(-weight)
    guard let context, context.journal.base != 0 else { return }
    if context.journal.isSettled { context.restartBase() } else { context.journal.unregisterAll() }
  }
}

/// What the context tells.
extension UndoManager {
  func enter(_ new: ManagedObjectContext) {
    if let context, context !== new { context.undoManager = nil }
    reference = new.reference
    new.journal.isUnregistered = disablings > 0
  }

  func leave() {
    removeAllActions()
    context?.journal.isUnregistered = false
    reference = nil
  }

  /// An event ends: what changed in it is a group.
  func endEvent() {
    guard groupsByEvent, groupingLevel == 0, context?.journal.isSettled == true else { return }
    closeEvent()
  }

  /// Ends a step: the changes of a call, and of the delete rules that it caused. Within a hook, a transaction or a
  /// group the changes belong to that.
  ///
  /// Throws the errors of delete rules; the step is ended then too.
  package func endStep() throws {
    guard let context, context.hookDepth == 0, context.phase == nil, context.journal.isSettled, groupingLevel == 0,
      !isUndoing, !isRedoing
    else { return }
    defer { closeGroup() }
    try context.applyDeleteRulesOfEvent()
  }

  private func closeEvent() {
    if groupingLevel > 0 { collect() } else { closeGroup() }
  }

  /// What changed up to now belongs to the group that is open, which goes on unless `endApart` says that what comes is a group of its own.
  func beginApart() {
    guard let context, context.journal.isSettled, context.journal.base != 0, !context.journal.all.isEmpty else {
      return
    }
    if openGroup == nil { openGroup = UndoGroup() }
    collect()
  }

  /// What a transaction changes is a group, and what changed before it another one. Within a group that was begun both are parts of that.
  func prepareForTransaction() {
    if groupsByEvent, groupingLevel == 0 { endEvent() } else { beginApart() }
  }

  /// What changed since `beginApart` is a group, and what was open before it another one. Within a group that was begun it is a part of that.
  func endApart() {
    guard groupingLevel == 0, context?.journal.isSettled == true else { return }
    endOpenGroup()
    closeGroup()
  }

  /// Ends the group that is open.
  private func closeGroup() {
    collect()
    if groupingLevel == 0 { endOpenGroup() }
  }

  private func endOpenGroup() {
    guard let group = openGroup else { return }
    openGroup = nil
    if group.isStep, !group.isEmpty { push(group) } else { weigh(-group.weight) }
  }

  /// Takes what is in the journal: it belongs to the open group, or is one.
  private func collect() {
    guard let context, context.journal.base != 0, !isUndoing, !isRedoing, !context.journal.all.isEmpty else { return }
    let isStep = context.journal.hasSteps
    add(takeStretch(of: context), isStep: isStep)
    context.restartBase()
  }

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

  private func push(_ group: UndoGroup) {
    (group.name, openName) = (openName, "")
    undoGroups.append(group)
    for group in redoGroups { weigh(-group.weight) }
    redoGroups = []
    dropOldest()
    forgetLaterIDs()
  }

  private func dropOldest() {
    guard levelsOfUndo > 0, undoGroups.count > levelsOfUndo else { return }
    for group in undoGroups.prefix(undoGroups.count - levelsOfUndo) { weigh(-group.weight) }
    undoGroups.removeFirst(undoGroups.count - levelsOfUndo)
    forgetLaterIDs()
  }

  /// IDs that no group knows any more are not looked for. Of groups that follow each other the first one is the oldest.
  private func forgetLaterIDs() {
    let oldest = [undoGroups.first, redoGroups.first, openGroup].compactMap { $0?.idCount }.min()
    weigh(-LaterIDs.weight &* laterIDs.forget(before: oldest ?? laterIDs.count))
  }

  /// What the journal says that was before it. Objects that left meanwhile still have their values.
  private func takeStretch(of context: ManagedObjectContext, withIDsOf idCount: Int? = nil) -> UndoPart {
    let changes = context.journal.all
    let part = UndoPart(changes, in: context, epoch: epoch, idCount: idCount ?? laterIDs.count)
    for change in changes {
      guard case .presence = change.former, change.object.context == nil else { continue }
      if let passage = leaving.removeValue(forKey: ObjectIdentifier(change.object)), passage.stash == nil {
        passage.stash = UndoStash(change.object, wasSaved: false)
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

/// A save, and IDs that change.
extension UndoManager {
  /// What objects have whose deletion is about to be saved.
  func stashes(of deleted: [ManagedObject]) throws -> [(object: ManagedObject, stash: UndoStash)] {
    guard let context else { return [] }
    // What nobody undoes need not be kept.
    let isOpen = context.journal.base != 0
    let going = deleted.filter { !$0.isInserted && (isOpen || leaving[ObjectIdentifier($0)] != nil) }
    guard !going.isEmpty else { return [] }
    try context.loadRows(of: going.filter(\.needsRow).map(\.objectID))
    return try going.compactMap { object in
      guard !object.needsRow else { return nil }
      for slot in object.entity.toManySlots { _ = try object.memberIDs(slot) }
      let stash = UndoStash(object, wasSaved: true)
      try stash.requireBytes(of: object)
      return (object, stash)
    }
  }

  /// A save is written, and objects are still as they were before it. Its own changes, those of hooks for example, come on top of the
  /// first `count` ones, and belong to what was done last.
  func takeSave(after count: Int, _ stashes: [(object: ManagedObject, stash: UndoStash)]) {
    takeChanges(ofSaveAfter: count)
    for (object, stash) in stashes {
      guard let passage = leaving.removeValue(forKey: ObjectIdentifier(object)) else { continue }
      passage.stash = stash
      departed[object.objectID] = passage
      weigh(stash.weight)
    }
    // New IDs, or a child that could not save, left it open.
    if groupsByEvent, groupingLevel == 0 { endOpenGroup() }
    // Those of a store that failed are still to go.
    leaving = leaving.filter { $0.value.object.context != nil && $0.value.object.isDeleted }
    epoch += 1
  }

  /// A save had nothing to write, maybe because its hooks took back what there was: that belongs to what was done last too.
  func endSave(after count: Int) {
    guard groupsByEvent, groupingLevel == 0, context?.journal.isSettled == true else { return }
    takeChanges(ofSaveAfter: count)
    endOpenGroup()
  }

  private func takeChanges(ofSaveAfter count: Int) {
    guard let context, context.journal.base != 0, !context.journal.all.isEmpty else { return }
    let isStep = context.journal.all.prefix(count).contains(where: \.isStep)
    let part = takeStretch(of: context)
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

  /// Since `takeSave` objects forgot those whose deletion is saved, and shall know them again when these come back.
  func takeLeads() {
    defer { departed = [:] }
    guard let context, context.journal.base != 0, !context.journal.all.isEmpty else { return }
    for step in takeStretch(of: context).steps {
      switch step.former {
      case .member(let id, isMember: true, _, _), .value(.objectID(let id), _, _):
        departed[id]?.stash?.leads.append(step)
        if departed[id] != nil { weigh(step.weight) }
      default: break
      }
    }
    forgetStretch(of: context)
  }

  /// Objects are about to get other IDs, and the journal has those of before. Their group goes on.
  func prepareForNewIDs() { beginApart() }

  /// An object has another ID.
  func noteID(_ id: ManagedObjectID, after former: ManagedObjectID) {
    guard !undoGroups.isEmpty || !redoGroups.isEmpty || openGroup != nil else { return }
    laterIDs.note(id, after: former)
    weigh(LaterIDs.weight)
  }

  /// The ID that an object has now.
  func currentID(_ id: ManagedObjectID) -> ManagedObjectID { laterIDs.current(id) }

  /// How many IDs are known of objects that have others now, for tests.
  var laterIDCount: Int { laterIDs.keptCount }

  /// Rows are read anew: what is in them need not be as it was when it was changed.
  func noteNewRows() { epoch += 1 }

  /// The changes that were registered before registration ended are a group, or a part of one.
  func registrationEnds() { closeEvent() }

  /// An object came back.
  func forgetLeaving(_ object: ManagedObject) { leaving[ObjectIdentifier(object)] = nil }
}
