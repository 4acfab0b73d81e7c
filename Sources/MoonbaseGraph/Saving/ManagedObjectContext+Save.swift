import MoonbaseModel
import OrderedCollections

/// Saving.
extension ManagedObjectContext {
  /// Saves all changes, in one transaction for each store.
  ///
  /// The order is that of the Core Data Programming Guide: delete rules, validation, `willSave`, validation of the
  /// objects that `willSave` and its delete rules changed, one transaction for each store, `didSave`. `saveOrder` can
  /// put `willSave` first. On an error nothing is saved and every change is kept; the changes that rules, `willSave`
  /// and delete rules made during the save are undone.
  ///
  /// With several stores, all are written before the first commits. If a commit fails after another one succeeded, the
  /// committed changes count as saved, the others are kept for the next save, and the error says so.
  ///
  /// Throws the first of `pendingErrors`; validation failures (several as one `.multipleErrors`); `.mergeConflict` and
  /// `.constraintConflict`; `.readOnlyStore`; `.storeBusy`; the errors of hooks; `.recursiveSave` and `.contextBusy`
  /// within a hook.
  ///
  /// An error of a `didSave` hook comes too late to fail the save and is kept in `didSaveErrors`.
  public func save() throws {
    try save(with: nil)
  }

  /// Saves all changes together with a change of a store's metadata. Not available in a child context, which has no
  /// store. Throws as `save()` does.
  package func save(with metadataChange: MetadataChange?) throws {
    waitForPendingSave()
    try mergeNews()
    followExtensions()
    defer { followExtensions() }
    try save(ahead: false, with: metadataChange)
    // The changes that another thread could not save are part of this save.
    writing.failure = nil
  }

  /// With `ahead`, another thread may write.
  func save(ahead: Bool, with metadataChange: MetadataChange? = nil) throws {
    try measuring(.save) { try saveNow(ahead: ahead, with: metadataChange) }
  }

  /// Checks that a save is allowed, and runs it. Throws `.contextBusy`, `.recursiveSave` and `.invalidRequest`.
  private func saveNow(ahead: Bool, with metadataChange: MetadataChange?) throws {
    try checkOpen()
    try refuseWithinHooks("a save was begun")
    try BatchInsertHandler.refuse("a store was to be written")
    guard !running.isInTransaction else {
      throw GraphError(.invalidRequest, message: "a transaction saves at its end: its body must not save")
    }
    defer { tellObservers() }
    if observations.changeEvent != nil {
      try applyDeleteRulesOfEvent()
      endChangeEvent()
    }
    var operation = SaveOperation(self, ahead: ahead, with: metadataChange)
    do {
      try operation.run()
    } catch let error as GraphError {
      // The call of `save` is correct: earlier code or a hook caused the error.
      throw error.causedElsewhere
    }
    endChangeEvent()
  }

  /// Runs the part of a save before a store writes: delete rules, hooks and rules, and a check of unique values.
  /// Nothing is saved; the changes of hooks stay until they are rolled back. Throws the error that would fail the save.
  /// Used for dry runs of commands.
  package func prepareSave() throws {
    waitForPendingSave()
    try mergeNews()
    try checkOpen()
    try refuseWithinHooks("a save was begun")
    defer { tellObservers() }
    if observations.changeEvent != nil {
      try applyDeleteRulesOfEvent()
      endChangeEvent()
    }
    do {
      try SaveOperation(self).prepare()
      try UniqueValueCheck(context: self).run()
    } catch let error as GraphError {
      throw error.causedElsewhere
    }
  }
}

/// Checking objects that are not changed.
extension ManagedObjectContext {
  /// Makes the next save check whether another context saved an object, even if the object is unchanged here. If so,
  /// the save has a conflict, as for changed and deleted objects.
  ///
  /// A save without any changes checks nothing. A store in which the save only checks objects is locked like one that
  /// it writes: no other save runs there until this save is done. A read-only store is checked before any store
  /// commits. The request ends with a successful save or a rollback. Throws for an object of another context, and the
  /// errors of the store.
  ///
  /// ```swift
  /// try context.detectConflicts(for: account)  // the order is right only while the account is unchanged
  /// try context.insert("Order", values: ["limit": account["limit"]])
  /// try context.save()
  /// ```
  public func detectConflicts(for object: ManagedObject) throws {
    waitForPendingSave()
    try requireOwn(object, participle: "looked at for conflicts")
    guard !object.isInserted else { return }
    if object.snapshot == nil { try object.fireFault() }
    retained.objectsToCheck.append(object)
  }
}

/// The part of a save that only checks.
extension SavePlan {
  /// The stores in which the save only checks objects, without changes to write. Read-only stores, which have no save
  /// session, are returned separately. The result is not sorted.
  func storesOfUnchanged(besides waiting: [StorePlan]) throws -> (plans: [StorePlan], readOnly: [UInt32]) {
    var numbers = Set(waiting.lazy.map(\.number))
    var (new, readOnly): ([StorePlan], [UInt32]) = ([], [])
    for object in context.retained.objectsToCheck where object.context === context {
      let number = object.objectID.storeNumber
      guard numbers.insert(number).inserted else { continue }
      let store = try context.source.store(of: object.objectID)
      if store.isReadOnly { readOnly.append(number) } else { new.append(StorePlan(number: number, store: store)) }
    }
    return (new, readOnly)
  }

  /// The conflicts of objects in a store that `detectConflicts(for:)` marked and another context saved. The caller
  /// holds a save session of the store. Rows are read in the session, so they cannot change before the commit.
  func conflictsOfUnchanged(in store: UInt32, besides known: [SaveConflict]) throws -> [SaveConflict] {
    guard !context.retained.objectsToCheck.isEmpty else { return [] }
    let others = Set(known.lazy.map(\.objectID))
    let objects = context.retained.objectsToCheck.filter {
      $0.context === context && $0.objectID.storeNumber == store && !others.contains($0.objectID)
    }
    var rows: [ManagedObjectID: Snapshot] = [:]
    for row in try context.source.snapshots(of: objects.map(\.objectID)) { rows[row.id] = row }
    return objects.compactMap { object in
      guard let expected = object.snapshot?.version else { return nil }
      guard let row = rows[object.objectID] else { return SaveConflict(object.objectID, .deleted) }
      if row.version == expected { return nil }
      return SaveConflict(object.objectID, .changed(expected: expected, found: row.version), foundRow: row)
    }
  }
}

/// Values that the store derived.
extension ManagedObjectContext {
  /// Adopts values that stores derived with a save. The rows keep their versions, so caches must be told to drop them.
  /// Errors are ignored, because the changes are saved.
  func readDerived(_ ids: [ManagedObjectID]) {
    guard !ids.isEmpty else { return }
    source.forgetRows(of: ids)
    tellListeners(of: ids)
    let objects = ids.compactMap { registeredObject(for: $0) }.filter { $0.snapshot != nil }
    do {
      for row in try source.snapshots(of: objects.map(\.objectID)) {
        guard let object = registeredObject(for: row.id) else { continue }
        object.adoptValues(of: row, slots: source.derivedSlots[object.entity.index] ?? [])
      }
    } catch {
      // The changes are saved. An object without changes reads its row at the next access.
      for object in objects where !object.hasChanges { object.becomeFaultForPendingSave() }
    }
  }
}

/// Transformable values that were changed in place, which no setter notices.
extension ManagedObjectContext {
  /// Encodes every transformable value that objects have read. If the bytes differ from the object's, the value was
  /// changed in place. Called at the beginning of a save, if `detectsInPlaceMutation` is set. Throws `.changedInPlace`,
  /// with all failures.
  func checkReadValues() throws {
    let failures = FailureCollector()
    for object in retained.readObjects where object.context === self {
      for failure in try object.valuesChangedInPlace() { try failures.add(failure) }
    }
    try failures.throwFailures(consequence: "; nothing was saved")
  }

  /// Forgets objects that left the context or no longer have such values. Values that are no longer cached cannot have
  /// been changed.
  func forgetReadObjectsThatLeft() {
    if retained.readObjects.isEmpty { return }
    retained.readObjects = retained.readObjects.filter { $0.context === self && !$0.caches.isEmpty }
  }
}

/// Errors of accessors.
extension ManagedObjectContext {
  /// Fails the save with the error of an accessor that could not throw. The message says how many errors were kept.
  package func throwPendingError() throws {
    let errors = drainAccessorErrors()
    guard let first = errors.first else { return }
    guard var error = first as? GraphError else { throw first }
    let others = errors.count > 1 ? ", like \(errors.count - 1) more" : ""
    error.message +=
      " (an accessor that cannot throw kept this error\(others); drainAccessorErrors() gives them before a save)"
    throw error
  }
}

/// Refreshing inputs.
extension ManagedObjectContext {
  /// Refreshes inputs that another context saved. Unsaved changes of the objects are kept. Throws errors of the store.
  func include(_ stale: StaleInputs) throws {
    let members = stale.lists.values.joined().filter { id in
      guard let object = registered[id]?.takeUnretainedValue(), !object.isInserted else { return false }
      // An object that the save writes keeps its row, so that the save finds the conflict.
      return !object.isDeleted && !object.isWritten
    }
    try refreshRows(of: Array(Set(stale.rows).union(members)))
    for (list, others) in stale.lists { include(list, others) }
  }

  /// Discards a list, and the inverse lists of added and removed destinations. For a deleted owner, a rule
  /// that only clears the inverse is applied to new destinations of many-to-many relationships. The store reports new
  /// destinations of other rules and relationships as conflicts. Owners that are not registered need nothing.
  private func include(_ list: SaveInputs.List, _ others: Set<ManagedObjectID>) {
    guard let owner = registered[list.owner]?.takeUnretainedValue(),
      let relationship = owner.entity.properties[list.slot].relationship
    else { return }
    let inverse = relationship.isManyToMany ? relationship.inverseSlot : nil
    if owner.isDeleted {
      let rule = relationship.description.deleteRule
      guard inverse != nil, rule.clearsInverse, !rule.requiresSeenDestinations else { return }
      owner.markUnpropagated()
      deletions.toPropagate.append(owner)
    }
    unload(list)
    for id in others { if let inverse { unload(SaveInputs.List(owner: id, slot: inverse)) } }
  }

  /// Discards the contents of a list, so that it is read again. Unsaved changes of the list are kept.
  private func unload(_ list: SaveInputs.List) {
    guard let owner = registered[list.owner]?.takeUnretainedValue(), let known = owner.relationships[list.slot] else {
      return
    }
    owner.unload(known, slot: list.slot)
  }
}
