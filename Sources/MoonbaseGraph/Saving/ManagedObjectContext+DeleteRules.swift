import MoonbaseModel
import MoonbasePlatform

extension ManagedObjectContext {
  /// Applies delete rules to objects deleted since the last time.
  ///
  /// Throws what a hook or a store throws; the rules that were not yet applied are applied the next time.
  public func processPendingChanges() throws {
    while !deletionsToPropagate.isEmpty {
      try HostWork.charge()
      let object = deletionsToPropagate.removeLast()
      guard object.isDeleted, !object.state.contains(.propagated) else { continue }
      try propagateDeletion(of: object)
    }
    dropNewDeletedObjects()
  }

  private func propagateDeletion(of object: ManagedObject) throws {
    do {
      try object.propagating {
        // One whose row another context deleted had its rules applied there.
        if try !isGone(object) { try DeletePropagation(object: object, context: self).run() }
      }
    } catch {
      deletionsToPropagate.append(object)
      throw error
    }
  }

  /// New objects that were deleted before they were ever saved leave no trace, once their delete rules have run.
  private func dropNewDeletedObjects() {
    guard !newDeletedObjects.isEmpty else { return }
    let waiting = newDeletedObjects
    newDeletedObjects = []
    for object in waiting where object.context === self && object.state.isSuperset(of: [.inserted, .deleted]) {
      guard !object.state.contains(.departing) else {
        newDeletedObjects.append(object)
        continue
      }
      changedObjects.remove(object)
      note(.dropped(object, object.state))
      disown(object, because: .deleted, mayReturn: journal.isActive)
    }
  }
}
