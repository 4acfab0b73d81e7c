import MoonbaseModel

/// Changes that are saved together or not at all. The asynchronous form is in another file.
extension ManagedObjectContext {
  /// Runs `body` and saves: all changes of `body` together with earlier unsaved changes, or none.
  ///
  /// `body` must not save. After an error of `body` or of the save, the changes of `body` are undone, and earlier
  /// changes stay unsaved. A transaction within another transaction saves nothing. After an error it undoes the changes
  /// of its own body, and the outer transaction may continue.
  ///
  /// If there are earlier changes, a rollback, a reset, and a refresh without merging throw `.invalidRequest` within
  /// `body`, because they would discard the earlier changes, too.
  @discardableResult
  public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try transaction(with: nil, body)
  }

  /// Runs a part of a larger save: `body` must neither save nor discard earlier changes. Used by code that saves
  /// several objects itself, such as imports.
  package func refusingSaves<Result>(_ body: () throws -> Result) rethrows -> Result {
    try withoutSaves(givingUp: false, body)
  }

  /// Throws if an operation would discard changes that belong to other code of the same save. The code is
  /// `.invalidRequest`.
  func refuseDiscarding(_ operation: String) throws {
    guard running.refusesDiscarding else { return }
    throw GraphError(
      .invalidRequest,
      message:
        "\(operation) among objects that are saved together: raise an error, which gives up what was done with this one"
    )
  }

  /// Runs a transaction that also changes a store's metadata. Throws `.recursiveSave` and `.contextBusy` within a hook,
  /// the errors of `body`, and those of the save.
  @discardableResult
  package func transaction<Result>(with metadataChange: MetadataChange?, _ body: () throws -> Result) throws -> Result {
    try refuseWithinHooks("a transaction was begun")
    if running.isInTransaction { return try undoingOnFailure { try refusingSaves(body) } }
    let hadChanges = hasChanges
    // Earlier changes can still be undone if the transaction fails, even if none of them waits to be saved.
    undoManager?.prepareForTransaction()
    do {
      // Transient values exist only in the objects, so the journal restores them.
      return try undoingOnFailure {
        let result = try withoutSaves(givingUp: !hadChanges, body)
        try save(with: metadataChange)
        return result
      }
    } catch {
      // Discarded or saved changes cannot be undone. The rollback is completed whatever its hooks throw; the error that
      // caused it is rethrown.
      if !hadChanges { try? discardChanges() }
      tellObservers()
      throw error
    }
  }

  /// Runs `body`, which must not save and, unless `givingUp` is true, must not discard earlier changes. The former
  /// settings return at the end, so that transactions may nest.
  private func withoutSaves<Result>(givingUp mayGiveUp: Bool, _ body: () throws -> Result) rethrows -> Result {
    let former = (running.isInTransaction, running.refusesDiscarding)
    (running.isInTransaction, running.refusesDiscarding) = (true, running.refusesDiscarding || !mayGiveUp)
    defer { (running.isInTransaction, running.refusesDiscarding) = former }
    return try body()
  }
}

/// The asynchronous form of `transaction`.
extension ManagedObjectContext {
  /// Runs `body` with a child of this context and saves its changes into the stores: all of them, or none.
  ///
  /// `body` may be suspended. Its changes are visible to other tasks only after the save. Saves and rollbacks of other
  /// tasks affect only their own changes.
  ///
  /// ```swift
  /// try await container.viewContext.transaction { context in
  ///   let person = try context.object(with: personID)
  ///   try person.setValue(await nameService.name(of: personID), forKey: "name")     // the view goes on meanwhile
  /// }
  /// ```
  ///
  /// The objects of `body` belong to the child context and are gone when `body` ends: pass IDs, for new objects after
  /// `obtainPermanentIDs(for:)`. `body` must not save. A value that `body` and other code changed is a conflict, as
  /// between any two contexts, which the merge policy of this context resolves. Earlier unsaved changes of this context
  /// are saved as well, and stay unsaved if the save fails, as in the synchronous transaction.
  ///
  /// Throws the errors of `body` and of the save. After an error no change of `body` remains.
  @discardableResult
  public nonisolated(nonsending) func transaction<Result>(
    _ body: nonisolated(nonsending) (ManagedObjectContext) async throws -> Result
  ) async throws -> Result {
    try checkOpen()
    let child = ManagedObjectContext(parent: self)
    child.name = name
    child.mergePolicy = mergePolicy.isError ? .errorAtCollisions : mergePolicy
    child.transactionAuthor = transactionAuthor
    child.running.isInTransaction = true
    do {
      let result = try await body(child)
      child.running.isInTransaction = false
      try checkOpen()
      // The child reads new objects of this context by permanent IDs, which a savepoint refuses to give.
      try obtainPermanentIDs(for: insertedObjects)
      try transaction { try child.save() }
      try child.close()
      return result
    } catch {
      child.running.isInTransaction = false
      // The changes of `body` are discarded with the child.
      try? child.close()
      throw error
    }
  }
}

/// Checks for tests only; a healthy context returns no lines.
extension ManagedObjectContext {
  /// Checks the invariants between public calls, for tests; returns the violated ones. Each line names the object and
  /// the violation. Takes time in proportion to all registered objects.
  package func brokenInvariants() -> [String] {
    var broken = derivations.brokenInvariants + registered.brokenInvariants
    for pointer in registered.values {
      let object = pointer.takeUnretainedValue()
      let id = object.objectID
      if registeredObject(for: id) !== object { broken.append("\(id) is registered and not found") }
      if object.context !== self { broken.append("\(id) is registered and belongs to another context") }
      if object.hasChanges, !object.state.contains(.listed) { broken.append("\(id) has changes and is not listed") }
      if object.state.contains(.listed), !object.hasChanges, object.changed.isEmpty {
        broken.append("\(id) is listed without changes")
      }
      if object.state.contains(.departing) { broken.append("\(id) is departing for ever") }
      if object.isFault, object.hasLiveValues { broken.append("\(id) is a fault with values") }
      if !object.row.live.isEmpty, object.row.live.count != object.entity.properties.count {
        broken.append("\(id) has \(object.row.live.count) values")
      }
      if object.state.contains(.inserted), !object.row.isOwn { broken.append("\(id) is new without a row of its own") }
      if object.row.isOwn, !object.state.contains(.listed) || object.isInserted != (object.snapshot == nil) {
        broken.append("\(id) has a row of its own that nobody saves, or one that is not above its store's")
      }
      if object.row.isOwn, object.page?.entity != object.entity.symbol {
        broken.append("\(id) has its row in a page of others")
      }
      for (slot, known) in object.relationships where known.isLoaded && !known.changesAreLoaded {
        broken.append("\(id).\(object.entity.properties[slot].name) has changes that its destinations do not show")
      }
      broken += brokenInverses(of: object)
    }
    if !journal.isActive, journal.count > 0 { broken.append("\(journal.count) changes are kept for nobody") }
    for object in changedObjects where !object.state.contains(.listed) {
      broken.append("\(object.objectID) is in the list of changes and does not know it")
    }
    for object in changedObjects where registered[object.objectID]?.takeUnretainedValue() !== object {
      broken.append("\(object.objectID) is changed but not registered")
    }
    return broken
  }

  /// The violations of inverses: if both sides of a relationship are read, each must contain the other.
  private func brokenInverses(of object: ManagedObject) -> [String] {
    guard !object.isDeleted, !object.isFault else { return [] }
    var broken: [String] = []
    for (slot, state) in object.relationships where state.isLoaded {
      guard let inverse = object.entity.properties[slot].relationship?.inverseSlot else { continue }
      for id in state.members {
        guard let other = registered[id]?.takeUnretainedValue(), !other.isDeleted, !other.isFault,
          !other.mayPointAt(object.objectID, slot: inverse)
        else { continue }
        broken.append("\(object.objectID).\(object.entity.properties[slot].name) has \(id), which does not point back")
      }
    }
    return broken
  }
}
