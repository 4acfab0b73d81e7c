import MoonbaseModel
import MoonbaseTestSupport

@testable import MoonbaseGraph

/// Saves that succeed and fail, and rollbacks.
extension Replica {
  func save() throws {
    log.append("save")
    do {
      try context.save()
    } catch let error as GraphError where isMurky && error.code == .constraintConflict {
      // Undoing brought back a value that somebody else has by now.
      return try rollback()
    }
    settleWorld()
    endGroup()
    try noteSaved()
  }

  /// What is there is what the store has.
  func noteSaved() throws {
    committed = world.persistent
    touched = []
    if context.hasChanges { mistakes.append("hasChanges after a save") }
    try checkStore()
  }

  /// What a save has to write for certain.
  var hasToSave: Bool {
    var settled = world
    settled.settle()
    return settled.persistent != committed
  }

  /// Fails at the commit, after hooks that change whatever they find (2), or in such a hook (4). All is as before.
  func failSave(_ hooks: Int) throws {
    guard hasToSave else { return }
    log.append("fail to save, \(hooks)")
    mode.value = hooks
    store.fail(atCommit: true)
    defer {
      mode.value = 0
      store.fail(atCommit: false)
    }
    try expectFailure { try context.save() }
  }

  /// All that the body does is undone.
  func failTransaction(_ operation: ReferenceOperation) throws {
    guard !context.hasChanges else { return }
    log.append("begin a transaction")
    // It is a group of its own.
    settleWorld()
    endGroup()
    let (before, touchedBefore, wasDirty) = (world, touched, isDirty)
    let kinds: [ReferenceOperation.Kind] = [
      .insert, .relate, .delete, .order, .setByDoor, .assign, .relateByDoor, .fetch,
    ]
    try expectFailure {
      try context.transaction {
        for round in 0..<(1 + operation.c % 5) {
          let (a, b, c) = (operation.a / (round + 1), operation.b / (round + 2), operation.c / (round + 1))
          try run(ReferenceOperation(kind: kinds[(a + b) % kinds.count], a: a, b: b, c: c))
        }
        if operation.a % 2 == 0 { try check(isThorough: true) }
        throw Broken()
      }
    }
    log.append("which fails")
    (world, touched, isDirty) = (before, touchedBefore, wasDirty)
  }

  func rollback() throws {
    log.append("rollback")
    try context.rollback()
    let moods = world.nodes.mapValues { $0.values["mood"] }
    world = committed
    for number in world.nodes.keys { world.nodes[number]?.values["mood"] = moods[number] ?? .null }
    try adoptTransients()
    touched = []
    forgetStates()
    if context.hasChanges { mistakes.append("hasChanges after a rollback") }
    if undo?.canUndo == true || undo?.canRedo == true { mistakes.append("there is something to undo after a rollback") }
  }
}
