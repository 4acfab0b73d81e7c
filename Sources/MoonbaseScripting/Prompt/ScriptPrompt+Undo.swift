import MoonbaseGraph
import MoonbaseModel

extension ScriptPrompt {
  /// Starts to record changes in the context from the host, for undo by input.
  package func notesUndo(levels: Int) {
    let undo = UndoManager()
    undo.levelsOfUndo = levels
    undo.groupsByEvent = false
    domain.groupsUndoByInput = true
    domain.contexts.given?.undoManager = undo
  }

  private var undoManager: UndoManager? { domain.contexts.given?.undoManager }

  /// Ends the undo group of an input and names it. Returns whether anything changed.
  package func endUndoGroup(named name: String) throws -> Bool {
    guard let undoManager, undoManager.hasOpenSteps else { return false }
    undoManager.setActionName(name)
    try undoManager.endStep()
    return true
  }

  /// Undoes the last input and returns its name; nil if there is nothing to undo.
  package func undo() throws -> String? {
    let undoManager = try requiredUndoManager()
    guard undoManager.canUndo else { return nil }
    let name = undoManager.undoActionName
    try undoManager.undo()
    return name
  }

  /// Repeats the input last undone and returns its name; nil if there is nothing to repeat.
  package func redo() throws -> String? {
    let undoManager = try requiredUndoManager()
    guard undoManager.canRedo else { return nil }
    let name = undoManager.redoActionName
    try undoManager.redo()
    return name
  }

  private func requiredUndoManager() throws -> UndoManager {
    if let undoManager { return undoManager }
    throw ScriptError(
      .invalidRequest,
      message: domain.contexts.given == nil
        ? "there is no store whose changes could be undone" : "undo is off: context.undo_levels = 50 switches it on")
  }
}
