import MoonbaseModel
import MoonbaseTestSupport

@testable import MoonbaseGraph

/// Undo groups and the states that they restore.
extension Replica {
  func endEvent() throws {
    log.append("end of event")
    try context.processPendingChanges()
    settleWorld()
    endGroup()
  }

  func goBack() throws {
    guard let undo else { return }
    log.append("undo")
    guard level == 0 else { return try expectFailure { try undo.undo() } }
    settleWorld()
    endGroup()
    try undo.undo()
    if isMurky { return try adopt() }
    if place > 0 { go(to: place - 1) }
  }

  func goForth() throws {
    guard let undo else { return }
    log.append("redo")
    guard level == 0 else { return try expectFailure { try undo.redo() } }
    settleWorld()
    endGroup()
    try undo.redo()
    if isMurky { return try adopt() }
    if place + 1 < states.count { go(to: place + 1) }
  }

  private func go(to place: Int) {
    let before = world
    self.place = place
    world = states[place]
    touch(from: before)
  }

  /// Undoes with an unreadable store: the undo fails and changes nothing, or succeeds without a read.
  func goBackWithoutStore(_ reads: Int) throws {
    guard let undo, level == 0 else { return }
    // Leaves only the undo's own reads to fail.
    try endEvent()
    log.append("undo after \(reads) reads")
    store.fail(afterReads: reads)
    let result = Result { try undo.undo() }
    store.fail(afterReads: nil)
    switch result {
    case .failure(let error):
      if (error as? GraphError)?.code != .storeFailure { throw error }
      log.append("which fails")
    case .success:
      if isMurky { return try adopt() }
      if place > 0 { go(to: place - 1) }
    }
  }

  func beginGroup() throws {
    guard let undo else { return }
    log.append("begin a group")
    try undo.beginUndoGrouping()
    if level == 0 {
      settleWorld()
      endGroup()
    }
    level += 1
  }

  func endExplicitGroup() throws {
    guard let undo, level > 0 else { return }
    log.append("end a group")
    try undo.endUndoGrouping()
    level -= 1
    guard level == 0 else { return }
    settleWorld()
    endGroup()
  }

  func forgetGroups() throws {
    guard let undo, level == 0 else { return }
    try endEvent()
    log.append("forget all groups")
    undo.removeAllActions()
    forgetStates()
  }
}
