import MoonbaseGraph
import MoonbaseLua

extension ScriptDomain {
  /// Saves. Returns `true` and the error of a `did_save` hook if there was one, or `nil` and the error.
  ///
  /// With `ahead`, the rows are written on another thread while the script continues; a later save throws their error.
  /// An error that a script does not read is reported at the end of the program.
  func save(_ context: ManagedObjectContext, ahead: Bool = false, call: inout LuaCall) throws {
    let box = try notingEnd(behindSaveOf: context) {
      try attempt(&call) { ahead ? try context.saveAhead() : try context.save() }
    }
    if let box {
      unseenFailure = UnseenFailure(error: box, cause: .save, unsavedCount: contexts.unsaved.ofRoots)
    } else {
      unsavedOfSeenFailure = nil
    }
    try returnDidSaveError(of: context, call: &call)
  }

  /// Saves, and notes whether the run ended in a hook after the save. A failed save keeps the changes. The end of the
  /// program then reports that the data is saved.
  func notingEnd<Result>(behindSaveOf context: ManagedObjectContext, _ save: () throws -> Result) rethrows -> Result {
    let hadChanges = context.hasChanges
    do { return try save() } catch {
      if hadChanges, !context.hasChanges { endedBehindSave = true }
      throw error
    }
  }

  /// Returns the error of a `did_save` hook after the results of the call, because it does not make the save fail.
  func returnDidSaveError(of context: ManagedObjectContext, call: inout LuaCall) throws {
    guard let box = didSaveError(of: context) else { return }
    try call.return(box, as: types.error)
  }

  /// The error of a `did_save` hook since the last call. The error is reported at the end of the program unless a
  /// script reads it. Several errors become one, with `details`.
  func didSaveError(of context: ManagedObjectContext) -> ErrorBox? {
    let errors = context.drainDidSaveErrors()
    guard var error = errors.first else { return nil }
    if errors.count > 1 {
      error = GraphError(
        error.code, message: "\(errors.count) errors after the data was saved", entity: error.entity,
        objectID: error.objectID,
        details: errors)
    }
    let box = ErrorBox(error, domain: self, calls: state.callsUnderWay())
    unseenFailure = UnseenFailure(error: box, cause: .didSave)
    return box
  }
}
