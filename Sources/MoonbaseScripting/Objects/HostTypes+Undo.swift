import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel

/// The undo API of contexts, such as `context.undo_levels` and `context:undo()`. Undo is off until a script sets the
/// levels.
///
/// An undo step is a single call of a script that changes something, with all its consequences: an assignment, an
/// insertion, a deletion, a transaction, the save of a child. `undo_group` makes a single step of a function.
extension HostTypes {
  /// Describes the undo members of a context. Without levels, `undo` and the others throw `.invalidRequest`.
  func describeUndo() {
    context.property(
      "undo_levels",
      get: { context, call in
        guard let undo = context.undoManager else { return call.returnNil() }
        call.return(undo.levelsOfUndo)
      }, set: { [unowned self] context, call in try setUndoLevels(of: context, call) })
    context.property("can_undo", get: { context, call in call.return(context.undoManager?.canUndo == true) })
    context.property("can_redo", get: { context, call in call.return(context.undoManager?.canRedo == true) })
    name("undo_name") { $0.canUndo ? $0.undoActionName : "" }
    name("redo_name") { $0.redoActionName }
    context.method("undo", upTo: 0) { [unowned self] context, call in
      let undo = try Self.undo(of: context, beside: "undo")
      call.return(undo.canUndo)
      try undo.undo()
      try finish(in: context)
    }
    context.method("redo", upTo: 0) { [unowned self] context, call in
      let undo = try Self.undo(of: context, beside: "redo")
      call.return(undo.canRedo)
      try undo.redo()
      try finish(in: context)
    }
    context.method("undo_group", upTo: 2) { context, call in
      let body = try call.function(call.count > 1 ? 1 : 0)
      let name = call.count > 1 && !call.isNil(0) ? try call.text(0) : nil
      for result in try Self.group(name, in: context, body) { try call.return(result) }
    }
  }

  /// Defines a property with the name of a step; nil without one.
  private func name(_ field: String, _ read: @escaping (UndoManager) -> String) {
    context.property(
      field,
      get: { context, call in
        let name = context.undoManager.map(read) ?? ""
        if name.isEmpty { call.returnNil() } else { call.return(name) }
      })
  }

  /// Sets the number of steps, from 1 to a million; nil turns undo off. At a prompt the prompt ends the steps,
  /// elsewhere each call does.
  private func setUndoLevels(of context: ManagedObjectContext, _ call: borrowing LuaCall) throws {
    guard !call.isNil(0) else { return context.undoManager = nil }
    let count = try call.integer(0)
    guard (1...1_000_000).contains(count) else {
      throw ScriptError(
        .invalidRequest,
        message: "undo_levels: a number of steps from 1 to 1000000 is expected, or nil to switch undo off, got \(count)"
      )
    }
    if let undo = context.undoManager { return undo.levelsOfUndo = Int(count) }
    let undo = UndoManager()
    undo.levelsOfUndo = Int(count)
    // At a prompt, each input is an undo step of its context.
    if let domain = try? openDomain(), domain.groupsUndoByInput, domain.contexts.given === context {
      undo.groupsByEvent = false
    } else {
      undo.groupsByCall = true
      hasAftermath = true
    }
    context.undoManager = undo
  }

  /// The undo manager. Throws `.invalidRequest` if undo is off.
  private static func undo(of context: ManagedObjectContext) throws -> UndoManager {
    guard let undo = context.undoManager else {
      throw ScriptError(.invalidRequest, message: "undo is off: set context.undo_levels = 50 before the changes")
    }
    return undo
  }

  /// The undo manager, for operations that are not allowed while the function of a group runs. Throws `.invalidRequest`
  /// within a group.
  private static func undo(of context: ManagedObjectContext, beside operation: String) throws -> UndoManager {
    let undo = try undo(of: context)
    guard undo.groupingLevel == 0 else {
      throw ScriptError(
        .invalidRequest, message: "\(operation) within undo_group: call it when the function of the group has returned")
    }
    return undo
  }

  /// Runs a function whose changes form a single undo step, even if it throws. `name` is the step's name in menus; a
  /// nested group belongs to the outer one.
  private static func group(_ name: String?, in context: ManagedObjectContext, _ body: LuaFunction) throws -> [LuaValue]
  {
    let undo = try undo(of: context)
    try undo.beginUndoGrouping()
    // The body may have switched undo off.
    func end() throws {
      guard undo.groupingLevel > 0 else { return }
      if let name, undo.groupingLevel == 1 { undo.setActionName(name) }
      try undo.endUndoGrouping()
    }
    let results: [LuaValue]
    do {
      results = try body.call([])
    } catch {
      // The error of the body matters more than a failure to end the group.
      try? end()
      throw error
    }
    try end()
    return results
  }
}
