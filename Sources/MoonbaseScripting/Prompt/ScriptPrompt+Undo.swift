import MoonbaseGraph
import MoonbaseModel

/// The prompt's commands undo and redo whole inputs. An input that changes nothing makes no step.
extension ScriptPrompt {
  /// Starts to record changes in the context from the host, for undo by input.
  package func notesUndo(levels: Int) {
    let undo = UndoManager()
    undo.levelsOfUndo = levels
    undo.groupsByEvent = false
    domain.groupsUndoByInput = true
    domain.contexts.given?.undoManager = undo
  }

  /// The undo manager of the context from the host; nil if undo is off.
  private var undoManager: UndoManager? { domain.contexts.given?.undoManager }

  /// Ends the undo group of an input and names it. Returns whether anything changed. `name` is the text of the input,
  /// which `undo()` returns. Throws errors of changes that are still to be processed.
  package func endUndoGroup(named name: String) throws -> Bool {
    guard let undoManager, undoManager.hasOpenSteps else { return false }
    undoManager.setActionName(name)
    try undoManager.endStep()
    return true
  }

  /// Undoes the last input and returns its name; nil if there is nothing to undo. Throws `.invalidRequest` without a
  /// store, or if undo is off.
  package func undo() throws -> String? {
    let undoManager = try requiredUndoManager()
    guard undoManager.canUndo else { return nil }
    let name = undoManager.undoActionName
    try undoManager.undo()
    return name
  }

  /// Repeats the input last undone and returns its name; nil if there is nothing to repeat. Throws as `undo()` does.
  package func redo() throws -> String? {
    let undoManager = try requiredUndoManager()
    guard undoManager.canRedo else { return nil }
    let name = undoManager.redoActionName
    try undoManager.redo()
    return name
  }

  /// The undo manager, or `.invalidRequest` with the reason for its absence.
  private func requiredUndoManager() throws -> UndoManager {
    if let undoManager { return undoManager }
    throw ScriptError(
      .invalidRequest,
      message: domain.contexts.given == nil
        ? "there is no store whose changes could be undone" : "undo is off: context.undo_levels = 50 switches it on")
  }
}
