import MoonbaseModel

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
    settle()
    try mergeNews()
    followExtensions()
    defer { followExtensions() }
    try save(ahead: false, with: metadataChange)
    // The changes that another thread could not save are part of this save.
    failureOfSave = nil
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
    guard !isInTransaction else {
      throw GraphError(.invalidRequest, message: "a transaction saves at its end: its body must not save")
    }
    defer { tellObservers() }
    if changeEvent != nil {
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
    settle()
    try mergeNews()
    try checkOpen()
    try refuseWithinHooks("a save was begun")
    defer { tellObservers() }
    if changeEvent != nil {
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
