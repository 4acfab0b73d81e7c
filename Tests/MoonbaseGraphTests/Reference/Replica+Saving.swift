import MoonbaseModel
import MoonbaseTestSupport

@testable import MoonbaseGraph

/// Successful and failed saves, and rollbacks.
extension Replica {
  func save() throws {
    log.append("save")
    do {
      try context.save()
    } catch let error as GraphError where isMurky && error.code == .constraintConflict {
      // Undo restored a unique value that another object has now.
      return try rollback()
    }
    settleWorld()
    endGroup()
    try noteSaved()
  }

  /// Notes that the store has the current values.
  func noteSaved() throws {
    committed = world.persistent
    touched = []
    if context.hasChanges { mistakes.append("hasChanges after a save") }
    try checkStore()
  }

  /// Whether a save certainly has something to write.
  var hasToSave: Bool {
    var settled = world
    settled.settle()
    return settled.persistent != committed
  }

  /// Fails a save at the commit, after hooks that make random changes (2), or in such a hook (4). Everything is
  /// unchanged afterwards.
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

  /// Runs a transaction that fails, so that all its changes are reverted.
  func failTransaction(_ operation: ReferenceOperation) throws {
    guard !context.hasChanges else { return }
    log.append("begin a transaction")
    // A transaction is a group of its own.
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
