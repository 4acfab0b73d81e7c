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
    guard refusesDiscarding else { return }
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
    if isInTransaction { return try undoingOnFailure { try refusingSaves(body) } }
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
    let former = (isInTransaction, refusesDiscarding)
    (isInTransaction, refusesDiscarding) = (true, refusesDiscarding || !mayGiveUp)
    defer { (isInTransaction, refusesDiscarding) = former }
    return try body()
  }
}
