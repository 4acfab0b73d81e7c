import MoonbaseModel

/// Requests that write past the context.
extension ManagedObjectContext {
  /// Inserts objects past the context: no hook runs, no rule is asked, and nothing of it can be undone.
  ///
  /// All are inserted in one transaction, or none. A store may write the first while the handler makes others: the handler reads what it
  /// likes, and writes none (`.contextBusy`). Contexts that merge what others save take it in; others `mergeChanges(from:)`.
  /// Throws for an unknown or abstract entity, for a key that is no persistent attribute, a value that its attribute cannot take, a
  /// store that is read-only; `.constraintConflict` where unique values are taken and the merge policy is `error`; what the handler
  /// throws; `.recursiveSave` and `.contextBusy` within a hook, `.invalidRequest` within a transaction.
  @discardableResult
  public func execute(_ request: BatchInsertRequest) throws -> BatchResult {
    try beginBatch("insert")
    let entity = try entity(request.entityName)
    var insertion = try BatchInsertion(of: entity, beside: self)
    return try insertion.run(request)
  }

  /// Sets attributes of saved objects past the context: unsaved changes do not count, no hook runs, and no rule is asked.
  ///
  /// Rows change in one transaction for each store, all or none, and rise in version where a value is another one. Stored derived
  /// attributes follow. Objects that are here keep what they know until it is merged or refreshed.
  /// Throws for an unknown entity, for a key that is no persistent attribute, a value that its attribute cannot take, a store that
  /// is read-only, and what a fetch throws; `.constraintConflict` for unique values that are taken; `.recursiveSave` and `.contextBusy`
  /// within a hook, `.invalidRequest` within a transaction.
  @discardableResult
  public func execute(_ request: BatchUpdateRequest) throws -> BatchResult {
    try beginBatch("update")
    let entity = try entity(request.entityName)
    let update = try BatchUpdate(request, of: entity, in: model)
    return try BatchOperation.retrying(beside: self) { try $0.update(update) }
  }

  /// Deletes saved objects past the context, with their delete rules: no hook runs, and no rule of validation is asked.
  ///
  /// Rows go in one transaction for each store, all or none. Throws for an unknown entity, a store that is read-only, and what a
  /// fetch throws; `.recursiveSave` and `.contextBusy` within a hook, `.invalidRequest` within a transaction.
  @discardableResult
  public func execute(_ request: BatchDeleteRequest) throws -> BatchResult {
    try beginBatch("delete")
    if request.objectIDs?.isEmpty == true {
      return BatchResult(request.resultType, ids: [], count: 0, changes: SavedObjectIDs())
    }
    let deletion = try BatchDeletion(request, in: self)
    return try BatchOperation.retrying(beside: self) { try $0.delete(deletion) }
  }

  func beginBatch(_ kind: String) throws {
    settle()
    try refuseWithinHooks("a batch \(kind) was asked for")
    guard !isInTransaction else {
      throw GraphError(
        .invalidRequest,
        message: "a batch \(kind) was asked for within a transaction, which could not undo it: do it before or after it"
      )
    }
  }
}

extension ManagedObjectContext {
  /// Asks the store of an entity to do a batch request itself; nil where it leaves that to the graph, and where there are several.
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
    // Who reads rows meanwhile does not take them from the cache.
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
