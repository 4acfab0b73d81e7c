import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

/// A batch request in progress: changes objects of a separate context without hooks and rules, and saves them.
///
/// The save handles keys, versions, delete rules, links, conflicts and several stores.
struct BatchOperation {
  /// The context that executes the request.
  private let asker: ManagedObjectContext
  let context: ManagedObjectContext

  init(beside asker: ManagedObjectContext) {
    self.asker = asker
    context = asker.contextForBatches()
  }

  /// The number of attempts after which repeated merge conflicts fail the request.
  private static let greatestRounds = 32

  /// Runs a request on saved objects, and repeats it if other saves changed these objects meanwhile.
  static func retrying(
    beside asker: ManagedObjectContext, _ body: (BatchOperation) throws -> BatchResult
  ) throws -> BatchResult {
    for _ in 1..<greatestRounds {
      do {
        return try body(BatchOperation(beside: asker))
      } catch let error as GraphError where error.isOvertaken {
        continue
      }
    }
    return try body(BatchOperation(beside: asker))
  }

  // MARK: Updating

  /// Executes a batch update, in the store if possible.
  func update(_ update: BatchUpdate) throws -> BatchResult {
    if let result = try update.executed(by: asker) { return BatchResult(update.resultType, of: result) }
    let objects = try context.fetchNow(update.fetchRequest)
    // All new values are computed before the first object changes.
    var values: [[Value]] = []
    var memory = HostMemory()
    for object in objects {
      try HostWork.charge()
      let new = try update.values(for: object)
      try memory.hold(32 + new.reduce(0) { $0 + 24 + $1.weight })
      values.append(new)
    }
    for (object, new) in zip(objects, values) {
      try HostWork.charge()
      for (slot, value) in zip(update.slots, new) { try object.setValue(value, slot: slot) }
    }
    let ids = update.resultType == .objectIDs ? objects.map(\.objectID) : []
    let changes = try save()
    return BatchResult(update.resultType, ids: ids, count: objects.count, changes: changes)
  }

  // MARK: Deleting

  /// Executes a batch deletion, in the store if possible.
  func delete(_ deletion: BatchDeletion) throws -> BatchResult {
    if let result = try deletion.executed(by: asker) { return BatchResult(deletion.resultType, of: result) }
    let objects = try context.fetchNow(deletion.fetchRequest)
    if try deleteTogether(objects) == nil { try deleteEach(of: objects) }
    let ids = objects.filter(\.isDeleted).map(\.objectID)
    let changes = try save()
    return BatchResult(deletion.resultType, ids: ids, count: ids.count, changes: changes)
  }

  /// The error if an object cannot be deleted while another one (`keeper`) exists.
  private struct Denied: Error {
    let keeper: ManagedObjectID
  }

  /// Deletes objects with the effects of their delete rules, and returns all deleted IDs. Returns nil, with all changes
  /// undone, if a relationship denies a deletion; `keeper` then receives the ID of a destination.
  private func deleteTogether(
    _ objects: [ManagedObject], keeper: (ManagedObjectID) -> Void = { _ in }
  ) throws -> [ManagedObjectID]? {
    do {
      return try context.undoingOnFailure {
        for object in objects where !object.isDeleted { try context.delete(object) }
        try context.applyDeleteRules()
        // Earlier deletions were not denied, and no destinations were added since.
        let deleted = OrderedSet(context.journal.all.lazy.map(\.object)).filter(\.isDeleted)
        for object in deleted { if let keeper = try context.keeper(of: object) { throw Denied(keeper: keeper) } }
        return deleted.map(\.objectID)
      }
    } catch let denied as Denied {
      keeper(denied.keeper)
      return nil
    }
  }

  /// Deletes objects one by one, where some are denied. A denied object is tried again when the destination that kept
  /// it is deleted.
  private func deleteEach(of objects: [ManagedObject]) throws {
    var kept: [ManagedObjectID: [ManagedObject]] = [:]
    var waiting = objects
    while !waiting.isEmpty {
      var gone: [ManagedObjectID] = []
      for object in waiting where !object.isDeleted {
        try HostWork.charge()
        gone += try deleteTogether([object]) { kept[$0, default: []].append(object) } ?? []
      }
      waiting = gone.flatMap { kept.removeValue(forKey: $0) ?? [] }
    }
  }

  // MARK: Saving

  private func save() throws -> SavedObjectIDs { try context.saveBatch() }
}

extension GraphError {
  /// Whether another save of the same objects came first.
  fileprivate var isOvertaken: Bool {
    let all = details.isEmpty ? [self] : details
    return all.allSatisfy { [.mergeConflict, .objectNotFound].contains($0.code) }
  }
}
