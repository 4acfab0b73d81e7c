public import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

/// Requests that write directly to stores.
extension ManagedObjectContext {
  /// Inserts objects directly into a store: no hooks or rules run, and the insertion cannot be undone.
  ///
  /// All objects are inserted in one transaction, or none. The store may write the first objects while the handler
  /// makes others, so the handler may read stores but not write to them (`.contextBusy`). Contexts that merge
  /// automatically see the objects. A context without automatic merges calls `mergeChanges(from:)`.
  ///
  /// Throws for an unknown or abstract entity, a key that is no persistent attribute, a value that does not fit its
  /// attribute, and a read-only store; `.constraintConflict` for unique values that are already taken, if the merge
  /// policy is `error`; the errors of the handler; `.recursiveSave` and `.contextBusy` within a hook, `.invalidRequest`
  /// within a transaction.
  @discardableResult
  public func execute(_ request: BatchInsertRequest) throws -> BatchResult {
    try beginBatch("insert")
    let entity = try entity(request.entityName)
    var insertion = try BatchInsertion(of: entity, beside: self)
    return try insertion.run(request)
  }

  /// Sets attributes of saved objects directly in the stores: unsaved changes do not count, and no hooks or rules run.
  ///
  /// Rows change in one transaction for each store, all or none, and their versions increase if a value changed. Stored
  /// derived attributes are updated. Registered objects keep their values until the changes are merged or the objects
  /// refreshed.
  ///
  /// Throws for an unknown entity, a key that is no persistent attribute, a value that does not fit its attribute, a
  /// read-only store, and the errors of a fetch; `.constraintConflict` for unique values that are already taken;
  /// `.recursiveSave` and `.contextBusy` within a hook, `.invalidRequest` within a transaction.
  @discardableResult
  public func execute(_ request: BatchUpdateRequest) throws -> BatchResult {
    try beginBatch("update")
    let entity = try entity(request.entityName)
    let update = try BatchUpdate(request, of: entity, in: model)
    return try BatchOperation.retrying(beside: self) { try $0.update(update) }
  }

  /// Deletes saved objects directly in the stores, with their delete rules: no hooks or validation rules run.
  ///
  /// Rows are deleted in one transaction for each store, all or none. Throws for an unknown entity, a read-only store,
  /// and the errors of a fetch; `.recursiveSave` and `.contextBusy` within a hook, `.invalidRequest` within a
  /// transaction.
  @discardableResult
  public func execute(_ request: BatchDeleteRequest) throws -> BatchResult {
    try beginBatch("delete")
    if request.objectIDs?.isEmpty == true {
      return BatchResult(request.resultType, ids: [], count: 0, changes: SavedObjectIDs())
    }
    let deletion = try BatchDeletion(request, in: self)
    return try BatchOperation.retrying(beside: self) { try $0.delete(deletion) }
  }

  /// Waits for a save in progress. Throws within a hook or a transaction.
  func beginBatch(_ kind: String) throws {
    waitForPendingSave()
    try refuseWithinHooks("a batch \(kind) was asked for")
    guard !running.isInTransaction else {
      throw GraphError(
        .invalidRequest,
        message: "a batch \(kind) was asked for within a transaction, which could not undo it: do it before or after it"
      )
    }
  }
}

extension ManagedObjectContext {
  /// Lets the store of an entity execute a batch request; nil if the store leaves it to the graph, or if there are
  /// several stores.
  func executeInStore(
    _ kind: StoreBatchRequest.Kind, _ request: FetchRequest, of entity: ResolvedEntity, _ type: BatchResultType
  ) throws -> StoreBatchResult? {
    guard !hasStoredAttributes else { return nil }
    let context = ManagedObjectContext(coordinator, extensionRegistry: extensionRegistry.withoutHooks())
    if case .update(let values) = kind {
      for index in entity.indexes(includingSubentities: request.includesSubentities) {
        let behavior = try context.behavior(of: model.entities[index])
        guard values.allSatisfy({ behavior.isStoredAsIs($0) && $1.inputs.allSatisfy(behavior.isStoredAsIs) }) else {
          return nil
        }
      }
    }
    let plan = try FetchPlan(request, in: context)
    guard plan.parts.count == 1, let (store, part) = plan.parts.first, part.isComplete, !store.isReadOnly else {
      return nil
    }
    let asked = StoreBatchRequest(
      kind: kind, query: part.query, resultType: type, author: transactionAuthor, contextName: name)
    // Reads in progress must not use cached rows.
    let done = try coordinator.committing {
      let done = try store.execute(asked)
      if let done { coordinator.didWrite(done.changes) }
      return done
    }
    return done
  }
}

extension StoreBatchRequest.NewValue {
  /// The slots that a function reads.
  fileprivate var inputs: [Slot] { if case .function(_, let inputs) = self { inputs } else { [] } }
}

extension ManagedObjectContext {
  /// A context with the same stores for one batch request, without hooks and rules.
  func contextForBatches() -> ManagedObjectContext {
    let context = ManagedObjectContext(coordinator, extensionRegistry: extensionRegistry.withoutHooks())
    context.transactionAuthor = transactionAuthor
    context.name = name
    return context
  }

  /// Runs the phases of a save before the writing.
  func prepareBatch() throws {
    if observations.changeEvent != nil {
      try applyDeleteRulesOfEvent()
      endChangeEvent()
    }
    try SaveOperation(self).prepare()
  }

  /// Saves, and returns the IDs of the written objects.
  func saveBatch() throws -> SavedObjectIDs {
    var changes = SavedObjectIDs()
    let deleted = changedObjects.filter(\.isDeleted).map(\.objectID)
    let observation = observeSaves(didSave: { save in
      changes = SavedObjectIDs(
        inserted: save.inserted.map(\.objectID), updated: save.updated.map(\.objectID), deleted: deleted)
    })
    defer { observation.cancel() }
    try save()
    return changes
  }
}

extension ManagedObjectContext {
  /// Removes a new object without relationships as if it had not been inserted.
  func disownNew(_ object: ManagedObject) {
    guard object.context === self else { return }
    object.markUnlisted()
    changedObjects.remove(object, keepingPlaces: false)
    disown(object, because: .rolledBack)
  }
}
