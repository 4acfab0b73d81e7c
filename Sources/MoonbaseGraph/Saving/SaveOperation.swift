import MoonbaseModel
import OrderedCollections

/// A save of a context: its phases in order, and the work after the stores have committed.
///
/// Made for each save and run once. The phases: `SavePreparation` (delete rules, rules, `willSave`), `SavePlan` (rows
/// and links), writing with conflicts resolved, and `finish`. `ManagedObjectContext.phase` shows the phase to hooks.
package struct SaveOperation {
  /// The context that is saved.
  private let context: ManagedObjectContext
  /// Nil before the changes are planned, and without changes.
  private var plan: SavePlan?
  /// Whether another thread may write.
  private let mayRunAhead: Bool
  /// A change of a store's metadata to commit with the save.
  private let metadataChange: MetadataChange?
  /// Whether another thread writes the plan.
  private var isHandedOver = false
  /// The number of changes in the journal before the save.
  private var earlierCount = 0
  /// The values of objects whose deletion is saved, for the undo manager.
  private var stashes: [(object: ManagedObject, stash: DeletedObjectState)] = []

  /// Saves with conflict resolution, parents or children never run ahead.
  package init(_ context: ManagedObjectContext, ahead: Bool = false, with metadataChange: MetadataChange? = nil) {
    self.context = context
    self.metadataChange = metadataChange
    // A merge policy resolves conflicts before the save ends, so the context must wait.
    mayRunAhead =
      ahead && !context.journal.isActive && context.mergePolicy.isError && !context.tellsOfSaves
      && context.parent == nil && context.lifetime.sourceOfChildren == nil && context.retained.objectsToCheck.isEmpty
  }

  /// Runs the save. Throws as `ManagedObjectContext.save` does.
  mutating func run() throws {
    context.running.phase = .willSave
    defer { context.running.phase = nil }
    // Removes the warnings of earlier saves, even if this save fails early.
    context.errors.warnings.removeAll()
    try context.throwPendingError()
    if context.detectsInPlaceMutation { try context.checkReadValues() }
    do {
      try write()
    } catch {
      if plan?.isPartlySaved == true { try finish() }
      throw error
    }
    // A save without changes also closes the undo group.
    if plan == nil { context.undoManager?.endSave(after: earlierCount) }
    defer { context.deletions.unclearedReferences.forgetSaved(in: context) }
    if isHandedOver, let plan { context.beginPendingSave(plan) } else { try finish() }
  }

  /// Runs the phases before the writing. The changes of hooks stay.
  package func prepare() throws {
    context.running.phase = .willSave
    defer { context.running.phase = nil }
    context.errors.warnings.removeAll()
    try context.throwPendingError()
    if context.detectsInPlaceMutation { try context.checkReadValues() }
    _ = try SavePreparation(context: context).run()
  }

  /// Runs all phases up to the commits. On an error everything is restored, except changes that one store committed
  /// before another failed. The savepoint of the journal restores the changes.
  private mutating func write() throws {
    earlierCount = context.journal.count
    let savepoint = context.journal.begin()
    defer { context.endSavepoint(savepoint) }
    do {
      if context.tellsOfSaves, context.hasChanges { try context.tellWillSave() }
      if context.mergePolicy.isError, !context.hasStoredAttributes {
        try writeOnce()
      } else {
        try writeResolvingConflicts()
      }
    } catch {
      // The changes that the save itself made are undone, and their errors discarded.
      context.errors.pending = []
      context.undo(since: savepoint) { plan?.isSaved($0) == true }
      throw error
    }
  }

  /// Prepares, plans and writes the changes once. Returns without writing if nothing changed.
  private mutating func writeOnce(checksInputs: Bool = true) throws {
    let hasStoredAttributes = context.hasStoredAttributes
    if hasStoredAttributes { context.derivations.beginInputs() }
    defer { if hasStoredAttributes { context.derivations.endInputs() } }
    let areUpdates = try SavePreparation(context: context).run()
    guard context.hasChanges || metadataChange != nil else { return }
    // The stores need not keep the old state for views.
    context.endViews()
    context.running.phase = .writing
    if let undo = context.undoManager {
      // Before sessions begin, because reading may run accessors and hooks.
      stashes = try undo.stashes(of: context.changedObjects.filter { $0.state.contains(.deleted) })
    }
    let inSessions = !mayRunAhead && context.parent == nil
    plan = try SavePlan(context, keys: areUpdates ? .none : inSessions ? .ofSessions : .ofStores)
    if let metadataChange { try plan?.add(metadataChange) }
    if !context.extensionRegistry.versions.isEmpty, context.parent == nil {
      try plan?.noteExtensions(context.extensionRegistry.versions)
    }
    // Changes by hooks and rules would have to be undone if the save failed.
    let haveHooksChanged = context.journal.count > 0
    isHandedOver =
      try mayRunAhead && context.source.derivedSlots.isEmpty && !haveHooksChanged
      && context.derivations.inputs?.isEmpty != false && plan?.mayBeWrittenAhead() == true
    if !isHandedOver { try plan?.write(checksInputs: checksInputs && hasStoredAttributes) }
  }

  /// The number of attempts after which a save with repeated merge conflicts fails.
  private static let greatestRounds = 32

  /// Writes, and repeats the save after its conflicts are resolved. Rules and hooks run again each time, because values
  /// changed. Each attempt has a savepoint of its own. After `greatestRounds` attempts the conflict is thrown.
  private mutating func writeResolvingConflicts() throws {
    var (lastStale, checksInputs) = (StaleInputs(), true)
    for _ in 0..<Self.greatestRounds {
      let attempt = context.journal.begin()
      defer { context.endSavepoint(attempt) }
      do {
        return try writeOnce(checksInputs: checksInputs)
      } catch {
        guard let plan, !plan.conflicts.isEmpty || !plan.stale.isEmpty else { throw error }
        context.undo(since: attempt)
        context.running.phase = nil
        defer { context.running.phase = .willSave }
        try context.observations.observers.holding { try resolve(plan, or: error) }
        // Inputs that are the same after a refresh would be found outdated again.
        checksInputs = plan.stale.isEmpty || plan.stale != lastStale
        lastStale = plan.stale
        (self.plan, context.errors.pending) = (nil, [])
      }
    }
    try writeOnce()
  }

  /// Refreshes outdated inputs of stored values, and objects whose only changes are stored values. The merge policy
  /// resolves all other conflicts. Throws `error` if the policy does not resolve a conflict.
  private func resolve(_ plan: SavePlan, or error: any Error) throws {
    guard plan.stale.isEmpty else { return try context.include(plan.stale) }
    let own = try plan.conflicts.filter(isOfStoredValues)
    let others = try plan.conflicts.filter { try !isOfStoredValues($0) }
    if !others.isEmpty {
      let new = plan.rows.filter { $0.object.objectID.isTemporaryID }.map { ($0.id, $0.object) }
      let resolver = ConflictResolver(context: context, new: Dictionary(uniqueKeysWithValues: new))
      // The policy changed nothing, so another attempt would fail in the same way.
      guard try resolver.resolve(others, or: error) else { throw error }
    }
    try context.refreshRows(of: own.map(\.objectID))
  }

  /// Whether a conflict concerns a row in which the context changed only computed values. No merge policy
  /// is needed: the values are computed again.
  private func isOfStoredValues(_ conflict: SaveConflict) throws -> Bool {
    switch conflict.kind {
    case .changed, .deleted: break
    default: return false
    }
    guard let object = context.registeredObject(for: conflict.objectID), !object.isInserted, !object.isDeleted else {
      return false
    }
    let stored = try context.behavior(of: object.entity).storedSlots
    let entity = object.entity
    return object.changed.slots.allSatisfy { slot in
      entity.toManySlots.contains(slot) || entity.transientSlots.contains(slot) || stored.contains(slot)
    }
  }

  /// Updates the context: changes that were committed become saved, all others stay changes. The order matters: IDs and
  /// rows first, then caches, `didSave` hooks, child contexts and observers.
  private func finish() throws {
    guard let plan else { return }
    context.running.phase = .didSave
    let save = context.tellsOfSaves ? contextSave(of: plan) : nil
    let undo = context.undoManager
    undo?.recordSave(after: earlierCount, stashes.filter { plan.isSaved($0.object) })
    let (deleted, didSaveObservers) = (plan.deleted.filter(plan.isSaved), plan.didSaveObservers.filter(plan.isSaved))
    // Objects with a `didSave` hook stay until it has run.
    let hearing = Set(didSaveObservers.lazy.filter(\.isDeleted).map(ObjectIdentifier.init))
    for object in deleted {
      object.outdateAll()
      if hearing.contains(ObjectIdentifier(object)) { object.prepareForDidSaveOfDeletion() } else { leave(object) }
    }
    defer {
      for object in deleted where object.context === context {
        object.outdateAll()
        leave(object)
      }
    }
    if let undo {
      for row in plan.rows where row.object.objectID != row.id && plan.isSaved(row.object) {
        undo.noteID(row.id, after: row.object.objectID)
      }
    }
    if !context.errors.warnings.isEmpty { context.errors.warnings.rename(plan.permanentID) }
    plan.adopt()
    if let looseEnds = UnclearedReferences(to: deleted, in: context) {
      looseEnds.cut()
      undo?.recordRemovedReferences()
    }
    if plan.savedAllChanges { context.changedObjects.removeAll() } else { context.changedObjects.removeSaved() }
    context.tellListenersOfSave()
    // The program still shares the values that it assigned.
    context.forgetReadObjectsThatLeft()
    context.retained.objectsToCheck = []
    context.forgetReadAhead()
    context.readDerived(plan.derived)
    context.forgetJournal()
    context.noteChange()
    var endOfRun: (any Error)?
    for object in didSaveObservers where object.context === context { callDidSave(object, &endOfRun) }
    if let children = context.lifetime.sourceOfChildren {
      for changes in plan.savedChanges { children.tell(SavedObjectIDs(changes)) }
      if !plan.derived.isEmpty { children.tell(SavedObjectIDs(updated: plan.derived)) }
      children.parentRows?.forgetUnused(after: plan.rows.count + plan.deleted.count)
    }
    if let save { context.tellDidSave(save) }
    if let endOfRun { throw endOfRun }
  }

  /// The saved objects, for observers. Deleted objects are included.
  private func contextSave(of plan: SavePlan) -> ContextSave {
    let written = plan.rows.lazy.map(\.object).filter(plan.isSaved)
    return ContextSave(
      inserted: written.filter(\.isInserted), updated: written.filter { !$0.isInserted },
      deleted: plan.deleted.filter(plan.isSaved), warnings: context.validationWarnings)
  }

  /// Removes an object whose deletion was saved from the context. A later access throws `.invalidObject`.
  private func leave(_ object: ManagedObject) {
    context.registered.remove(object)
    object.becomeDeleted()
  }

  /// Calls the `didSave` hooks. The changes are saved, so every hook is called and errors are kept. The end of a
  /// script's run is not an error of a hook and is thrown after all hooks were called. Hooks of the class come before
  /// those of extensions.
  private func callDidSave(_ object: ManagedObject, _ endOfRun: inout (any Error)?) {
    func trying(_ body: () throws -> Void) {
      do {
        try body()
      } catch let error as GraphError where !error.code.endsRun {
        context.keepLate(error)
      } catch {
        endOfRun = endOfRun ?? error
      }
    }
    trying {
      let behavior = try context.behavior(of: object.entity)
      if behavior.hooks.contains(.didSave) { trying { try object.running("didSave") { try object.didSave() } } }
      for entry in behavior.extensions { trying { try object.run("didSave", hook: entry.didSave) } }
    }
  }
}
