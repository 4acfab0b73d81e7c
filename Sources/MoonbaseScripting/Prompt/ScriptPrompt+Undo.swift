import MoonbaseGraph
import MoonbaseModel

extension ScriptPrompt {
  /// Notes what inputs change in the context that the host gave, so that it can be undone input by input.
  package func notesUndo(levels: Int) {
    let undo = UndoManager()
    undo.levelsOfUndo = levels
    undo.groupsByEvent = false
    domain.groupsUndoByInput = true
    domain.contexts.given?.undoManager = undo
  }

  private var undoManager: UndoManager? { domain.contexts.given?.undoManager }

  /// Ends the group of an input, which is named by it. Returns whether it changed anything.
  package func endUndoGroup(named name: String) throws -> Bool {
    guard let undoManager, undoManager.hasOpenSteps else { return false }
    undoManager.setActionName(name)
    try undoManager.endStep()
    return true
  }

  /// Takes back what the last input changed, and returns its name; nil where there is nothing.
  package func undo() throws -> String? {
    let undoManager = try requiredUndoManager()
    guard undoManager.canUndo else { return nil }
    let name = undoManager.undoActionName
    try undoManager.undo()
    return name
  }

  /// Does again what was taken back last, and returns its name; nil where there is nothing.
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
