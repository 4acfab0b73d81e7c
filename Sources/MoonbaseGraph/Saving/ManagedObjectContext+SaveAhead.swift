import DequeModule
import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

/// Saves that another thread writes.
extension SavePlan {
  /// The least number of rows for which another thread is worthwhile.
  private static let fewestRows = 64

  /// Whether another thread can write the plan without a visible difference: saved objects change only attributes, the
  /// others are new, no hook or observer is notified of the save, and the store can be read meanwhile. Throws errors of
  /// the store.
  func mayBeWrittenAhead() throws -> Bool {
    guard plans.count == 1, let plan = plans.first,
      plan.changes.updated.count + plan.changes.inserted.count >= Self.fewestRows,
      deleted.isEmpty, didSaveObservers.isEmpty, !context.derivations.isWatching,
      context.writing.objectsWithTemporaryIDs.isEmpty,
      !context.detectsInPlaceMutation, context.deletions.toPropagate.isEmpty
    else { return false }
    var quiet = ContiguousArray<Bool?>(repeating: nil, count: context.model.entities.count)
    for row in rows {
      let object = row.object
      if row.ownsChangedLists { continue }
      // The new object's permanent ID is already visible.
      if object.state.contains(.inserted), !object.objectID.isTemporaryID { return false }
      let isQuiet = try quiet[object.entity.index] ?? !context.behavior(of: object.entity).hasFaultHooks
      quiet[object.entity.index] = isQuiet
      guard isQuiet, object.delayed.isEmpty, object.state.contains(.inserted) || row.changesAttributesOnly else {
        return false
      }
    }
    // A store with a view that can be held open can be read while another thread writes.
    let view = try plan.store.beginReading(.view)
    defer { view.end() }
    return view.canBeHeldOpen
  }
}

/// Rows of such a save.
extension SavePlan.NewRow {
  /// Whether a row is written for the object.
  fileprivate var isWritten: Bool { if case .nothing = written { false } else { true } }

  /// The row that was made of the object. Nil for a row that is saved in place.
  fileprivate var copy: Snapshot? { if case .copied(let row) = written { row } else { nil } }

  /// Whether the object is saved and unchanged, except that lists of it got new objects. Then only these lists wait for
  /// the save.
  fileprivate var ownsChangedLists: Bool {
    guard case .nothing = written, !object.state.contains(.inserted), !object.hasLiveValues, object.delayed.isEmpty
    else {
      return false
    }
    let lists = object.relationships
    return lists.values.allSatisfy(\.hasOnlyNewDestinations) && object.changed.slots.allSatisfy { lists[$0] != nil }
  }

  /// Whether only attributes of a saved object changed, and none of its relationships is known. Relationships would
  /// have to be read again.
  fileprivate var changesAttributesOnly: Bool {
    isWritten && object.relationships.isEmpty && object.partners.isEmpty
      && !object.entity.toOneSlots.contains(where: object.changed.contains)
  }
}

/// The life of a save on another thread: `beginPendingSave` hands it over, `waitForPendingSave` waits for it, and
/// `finish` or
/// `revert` adopts its result.
extension ManagedObjectContext {
  /// Saves all changes like `save`, but if possible leaves the writing to another thread while the context continues.
  /// The objects are faults meanwhile. At most one such save is in progress; operations that depend on its result wait.
  ///
  /// An error of the writing is thrown by the next call or by `finishSave`; the objects then have their changes again.
  /// Errors of earlier phases, such as validation, are thrown immediately.
  ///
  /// ```swift
  /// for (number, line) in lines.enumerated() {
  ///   try context.insert("Line", values: ["text": .string(line)])
  ///   if number % 10_000 == 9_999 { try context.saveAhead() }
  /// }
  /// try context.save()  // waits for what is under way, and saves the rest
  /// ```
  public func saveAhead() throws { try saveAhead(with: nil) }

  /// Saves like `saveAhead()`, together with a change of a store's metadata. Throws as `saveAhead()` does.
  package func saveAhead(with metadataChange: MetadataChange?) throws {
    try finishSave()
    followExtensions()
    try save(ahead: hostSettings.savesAhead, with: metadataChange)
  }

  /// Aborts the save in progress when a run has to end: changes not committed by now stay unsaved. Waits until the
  /// writing thread has stopped.
  package func breakOffSave() {
    writing.pendingSave?.breakOff()
    waitForPendingSave()
  }

  /// Waits for the save that `saveAhead` began, and throws its error. Call it before results of the save are used
  /// elsewhere.
  public func finishSave() throws {
    waitForPendingSave()
    guard let failure = writing.failure else { return }
    writing.failure = nil
    throw failure
  }

  /// Waits for the save in progress, if there is one. If the save fails, its objects have their changes again and
  /// `finishSave` throws the error. Very cheap without one.
  @inline(__always)
  package func waitForPendingSave() {
    if writing.pendingSave != nil { finishPendingSave() }
  }

  /// Waits for the save in progress and adopts its result. Errors are kept for the next call.
  @inline(never)
  private func finishPendingSave() {
    guard let save = writing.pendingSave else { return }
    let failure = save.wait()
    writing.pendingSave = nil
    weigh(-save.weight)
    // Rows that were read ahead meanwhile may be outdated.
    forgetReadAhead()
    if let failure { revert(save, after: failure) } else { finish(save) }
  }

  /// Restores the changes of a failed save. The objects are as they were before the save.
  private func revert(_ save: SaveAhead, after failure: any Error) {
    writing.failure = failure
    for entry in save.objects where entry.object.context === self {
      // Without the journal: an open savepoint began when the changes were still there.
      if let reading = entry.reading {
        entry.object.restore(reading)
      } else {
        entry.object.endPendingSave(listed: true)
      }
      changedObjects.append(entry.object)
      entry.object.outdateAll(because: .change)
    }
    for owner in save.owners { owner.endHandOverOfLists(nil) }
    noteChange()
  }

  /// Gives new objects their permanent IDs after a successful save. References to temporary IDs are replaced.
  private func finish(_ save: SaveAhead) {
    defer { for page in save.ownRows { page.forgetBases() } }
    guard !save.permanent.isEmpty else { return }
    observations.observers.prepareForNewIDs()
    for entry in save.objects where entry.reading == nil && entry.object.context === self {
      entry.object.endPendingSave(listed: false)
      entry.object.becomeSaved(as: .nothing, id: entry.id, permanent: save.permanent)
    }
    for owner in save.owners { owner.endHandOverOfLists(save.permanent) }
    tellHoldersOfTemporaryIDs(save.permanent)
    deletions.unclearedReferences.forgetSaved(in: self)
    noteChange()
  }

  /// Waits for the save in progress if it writes any of these objects. Callers may use objects
  /// outside of the save meanwhile.
  func waitForPendingSave(before ids: [ManagedObjectID]) {
    guard writing.pendingSave != nil else { return }
    let isUnderWay = ids.contains { registered[$0]?.takeUnretainedValue().state.contains(.refreshed) ?? false }
    if isUnderWay { finishPendingSave() }
  }

  /// Leaves the writing of a plan to another thread. The objects become faults; their rows belong to the save until it
  /// ends.
  func beginPendingSave(_ plan: SavePlan) {
    guard let part = plan.plans.first else { return }
    let writer = writing.writer ?? ThreadExecutor(name: "Moonbase save")
    writing.writer = writer
    var objects: ContiguousArray<SaveAhead.HandedOver> = []
    objects.reserveCapacity(plan.rows.count)
    var owners: ContiguousArray<ManagedObject> = []
    for row in plan.rows {
      if row.ownsChangedLists {
        row.object.handOverLists()
        owners.append(row.object)
      } else {
        let reading = row.object.beginPendingSave(to: row.copy)
        objects.append(SaveAhead.HandedOver(object: row.object, reading: reading, id: row.id))
      }
    }
    changedObjects.removeSaved()
    retained.readObjects = []
    forgetReadAhead()
    forgetJournal()
    noteChange()
    let save = SaveAhead(
      part.changes, of: objects, owners: owners, ownRows: plan.ownRows, permanent: plan.permanent,
      sender: merging.inbox, to: part.store, of: coordinator, author: transactionAuthor, on: writer)
    writing.pendingSave = save
    weigh(save.weight)
  }
}
