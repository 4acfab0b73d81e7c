import MoonbaseModel

extension ManagedObjectContext {
  /// Saves all changes, in one transaction for each store.
  ///
  /// The order is the guide's: delete rules, validation, `willSave`, validation of what `willSave` and its delete rules changed,
  /// one transaction for each store, `didSave`; `saveOrder` can put `willSave` first. On an error nothing is saved, every change is
  /// kept, and what rules, `willSave` and delete rules did during the save is undone.
  ///
  /// Of several stores all are written before the first commits. Should a commit fail after another one succeeded, what is
  /// committed counts as saved, the rest is kept for the next save, and the error says so.
  ///
  /// Throws the first of `pendingErrors`; validation failures (several as one `.multipleErrors`); `.mergeConflict` and
  /// `.constraintConflict`; `.readOnlyStore`; `.storeBusy`; what a hook throws; `.recursiveSave` and `.contextBusy` within a hook.
  ///
  /// An error of a `didSave` hook comes too late to fail the save: it is kept in `didSaveErrors`.
  public func save() throws {
    try save(with: nil)
  }

  /// The same, together with a change of a store's metadata; not in a child context, which has no store.
  package func save(with metadataChange: MetadataChange?) throws {
    settle()
    try mergeNews()
    followExtensions()
    defer { followExtensions() }
    try save(ahead: false, with: metadataChange)
    // What another thread could not save is saved with this.
    failureOfSave = nil
  }

  func save(ahead: Bool, with metadataChange: MetadataChange? = nil) throws {
    try measuring(.save) { try saveNow(ahead: ahead, with: metadataChange) }
  }

  private func saveNow(ahead: Bool, with metadataChange: MetadataChange?) throws {
    try checkOpen()
    try refuseWithinHooks("a save was begun")
    try BatchInsertHandler.refuseWriting("a store")
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
      // To save was right: what fails it was done wrong before, or by hooks.
      throw error.ofOthers
    }
    endChangeEvent()
  }

  /// Does what a save does before a store writes: delete rules, hooks and rules; and looks for values that must be unique and that others have. Nothing
  /// is saved; what hooks did stays until it is rolled back. Throws what would fail the save.
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
      throw error.ofOthers
    }
  }
}
