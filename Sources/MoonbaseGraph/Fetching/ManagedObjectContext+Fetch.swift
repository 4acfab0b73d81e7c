public import MoonbaseModel
import MoonbasePlatform

extension ManagedObjectContext {
  /// Prepares the context for a fetch, or for a lookup in place of a fetch.
  ///
  /// Waits for a save in progress, and marks a derived value that is being computed as dependent on any change. Throws
  /// within functions of batch updates, which run in the store.
  func beginFetch(of entityName: String) throws {
    try ManagedObjectContext.refuseWithinFunctions("a fetch of \(entityName) was asked for")
    settle()
    recordUntrackedRead()
  }

  /// Merges saves of other contexts, and applies pending delete rules.
  ///
  /// Called at the beginning of a read, so that results reflect the saves that were announced until then. With
  /// `appliesDeleteRules`, deletions of the current event take their effects first.
  func takeInChanges(appliesDeleteRules: Bool = true) throws {
    try mergeNews()
    if appliesDeleteRules { try applyDeleteRulesOfEvent() }
  }

  /// The objects that match a request.
  ///
  /// Unsaved changes count if the request includes them: new and changed objects that match are in the result, deleted
  /// objects are not. Throws for unknown names, for a predicate that does not fit the entity, and the errors of the
  /// store.
  ///
  /// The result is in the request's order. Objects are registered in the context, at most one for each ID; saved
  /// objects are faults unless `returnsObjectsAsFaults` is false.
  public func fetch(_ request: FetchRequest) throws -> [ManagedObject] {
    followExtensions()
    return try measuring(.fetch, of: request.entityName) { try fetchNow(request) }
  }

  /// Runs a request as part of another fetch, without reloading extensions first. Observers are notified after the
  /// fetch, because it may refresh registered objects.
  func fetchNow(_ request: FetchRequest) throws -> [ManagedObject] {
    let plan = try FetchPlan(request, in: self)
    // The fetch may refresh registered objects from newer rows.
    defer { tellObservers() }
    return try plan.reading {
      let objects = try plan.objects()
      if !request.returnsObjectsAsFaults { try fireFaults(of: objects) }
      try prefetch(request.relationshipKeyPathsForPrefetching, of: objects)
      return objects
    }
  }

  /// Fires the faults of a result; rows of the whole result are usually in the row cache by now.
  private func fireFaults(of objects: [ManagedObject]) throws {
    for object in objects {
      try HostWork.charge()
      try object.fireFault()
    }
  }

  /// Prefetches the destinations of objects along key paths, as a request with key paths for prefetching does.
  ///
  /// A key path has relationships only, for example `department.boss`. Throws `.invalidRequest` for a key that is no
  /// relationship of the entity.
  package func prefetch(_ keyPaths: [String], of objects: [ManagedObject]) throws {
    var memory = PrefetchMemory()
    try prefetch(keyPaths, of: objects, after: &memory)
  }

  /// Prefetches for one window of a walk; `memory` has the owners that earlier windows read.
  ///
  /// Owners that an earlier window read are skipped, as many objects of a walk share them.
  func prefetch(_ keyPaths: [String], of objects: [ManagedObject], after memory: inout PrefetchMemory) throws {
    guard !keyPaths.isEmpty else { return }
    memory.begin(objects.count, number: readAheadNumber)
    var prefetch = Prefetch(context: self, objects: objects, shared: memory)
    defer { memory = prefetch.shared }
    try prefetch.run(keyPaths)
  }

  /// The IDs of the objects that match a request.
  ///
  /// Unsaved changes count as in `fetch`. No objects are created, and no rows are kept.
  public func fetchIDs(_ request: FetchRequest) throws -> [ManagedObjectID] {
    followExtensions()
    return try measuring(.fetch, of: request.entityName) { try fetchIDsNow(request) }
  }

  /// Runs a request for IDs without reloading extensions first.
  func fetchIDsNow(_ request: FetchRequest) throws -> [ManagedObjectID] {
    try FetchPlan(request, in: self).objectIDs()
  }

  /// The IDs of the objects that match a request, packed. A list of IDs takes less memory than an array of
  /// `ManagedObjectID`. Extensions are not reloaded first.
  package func fetchIDList(_ request: FetchRequest) throws -> IDList { try FetchPlan(request, in: self).idList() }

  /// The number of objects that match a request.
  ///
  /// Unsaved changes, limit and offset count as in `fetch`. The store counts the rows if it can evaluate the whole
  /// predicate; otherwise the matches are walked.
  public func count(_ request: FetchRequest) throws -> Int {
    followExtensions()
    return try measuring(.count, of: request.entityName) { try FetchPlan(request, in: self).count() }
  }

  /// A description of how a request is executed, in lines for display. It shows the part of each store (its statement,
  /// and below it the steps of the engine's plan with the indexes used). It also shows the part left to the context
  /// with the reason, and the effect of unsaved changes. No rows are read.
  ///
  /// ```swift
  /// print(try context.explain(FetchRequest("Person", where: "age >= 30 AND nickname == 'x'")))
  /// // the store: SELECT t0.Z_PK, … FROM ZPERSON t0 WHERE t0.ZAGE >= ?
  /// //   SEARCH t0 USING INDEX Z_Person_byAge (ZAGE>?)
  /// // the context judges nickname == "x": nickname is not kept in the store
  /// ```
  ///
  /// Throws as `fetch` does for a request that does not fit the model.
  public func explain(_ request: FetchRequest) throws -> String {
    let lines =
      request.resultType == .dictionaries
      ? try DictionaryRows(request, in: self).lines() : try FetchPlan(request, in: self).lines()
    return lines.joined(separator: "\n")
  }

  /// The request of a template in the model, with variables replaced by Swift values.
  @_disfavoredOverload
  /// Throws as the variant with values of type `Value` does.
  public func fetchRequest(fromTemplate name: String, substituting values: ConvertibleValues) throws -> FetchRequest {
    try fetchRequest(fromTemplate: name, substituting: [String: Value](values))
  }

  /// The request of a template in the model, with variables replaced.
  ///
  /// Throws for an unknown template and for a variable without a value.
  ///
  /// Variables are replaced in `predicate` and `havingPredicate`. The result is a copy; the template in the model does
  /// not change.
  public func fetchRequest(fromTemplate name: String, substituting values: [String: Value] = [:]) throws
    -> FetchRequest
  {
    let templates = model.description.fetchRequestTemplates
    guard var request = templates[name] else {
      let hint = suggestion(for: name, among: templates.keys)
      throw GraphError(.unknownName, message: "the model has no fetch request template \(name.asName)\(hint)")
    }
    request.predicate = try request.predicate?.substituting(values)
    request.havingPredicate = try request.havingPredicate?.substituting(values)
    return request
  }
}
