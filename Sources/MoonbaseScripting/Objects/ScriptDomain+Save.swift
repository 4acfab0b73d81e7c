import MoonbaseGraph
import MoonbaseLua

extension ScriptDomain {
  /// Saves: `true`, and the error of a `did_save` hook if there was one; or `nil` and the error.
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

  /// Saves, and notes where the run ends in a hook behind the save: a save that fails leaves the changes.
  func notingEnd<Result>(behindSaveOf context: ManagedObjectContext, _ save: () throws -> Result) rethrows -> Result {
    let hadChanges = context.hasChanges
    do { return try save() } catch {
      if hadChanges, !context.hasChanges { endedBehindSave = true }
      throw error
    }
  }

  /// What `did_save` hooks raised does not make a save fail: it follows the results of the call.
  func returnDidSaveError(of context: ManagedObjectContext, call: inout LuaCall) throws {
    guard let box = didSaveError(of: context) else { return }
    try call.return(box, as: types.error)
  }

  /// The error of a `did_save` hook since the last call, which is told at the end of the program unless a script looks
  /// at it.
  func didSaveError(of context: ManagedObjectContext) -> ErrorBox? {
    let errors = context.takeDidSaveErrors()
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
