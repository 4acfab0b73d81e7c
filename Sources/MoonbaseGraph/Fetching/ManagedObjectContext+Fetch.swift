public import MoonbaseModel
import MoonbasePlatform

extension ManagedObjectContext {
  /// Begins a fetch, or a lookup that takes its place.
  func beginFetch(of entityName: String) throws {
    try ManagedObjectContext.refuseWithinFunctions("a fetch of \(entityName) was asked for")
    settle()
    noteOpenRead()
  }

  /// Takes in the saves of other contexts, and applies the delete rules that wait.
  func takeInChanges(appliesDeleteRules: Bool = true) throws {
    try mergeNews()
    if appliesDeleteRules { try applyDeleteRulesOfEvent() }
  }

  /// The objects that match a request.
  ///
  /// Unsaved changes count where the request includes them: new and changed objects that match are among the results,
  /// deleted ones are not. Throws for unknown names, for a predicate that does not fit the entity, and what the store throws.
  public func fetch(_ request: FetchRequest) throws -> [ManagedObject] {
    followExtensions()
    return try measuring(.fetch, of: request.entityName) { try fetchNow(request) }
  }

  /// Runs a request that is a part of another fetch. Extensions are not reloaded at its beginning.
  func fetchNow(_ request: FetchRequest) throws -> [ManagedObject] {
    let plan = try FetchPlan(request, in: self)
    // Rows that it reads may be newer than those that are here.
    defer { tellObservers() }
    return try plan.reading {
      let objects = try plan.objects()
      if !request.returnsObjectsAsFaults { try fireFaults(of: objects) }
      try prefetch(request.relationshipKeyPathsForPrefetching, of: objects)
      return objects
    }
  }

  private func fireFaults(of objects: [ManagedObject]) throws {
    for object in objects {
      try HostWork.charge()
      try object.fireFault()
    }
  }

  /// Reads what relationships of objects lead to, many at a time, as a request does with key paths for prefetching.
  package func prefetch(_ keyPaths: [String], of objects: [ManagedObject]) throws {
    var memory = PrefetchMemory()
    try prefetch(keyPaths, of: objects, after: &memory)
  }

  /// The same for a window of a walk, after what was read for those before it.
  func prefetch(_ keyPaths: [String], of objects: [ManagedObject], after memory: inout PrefetchMemory) throws {
    guard !keyPaths.isEmpty else { return }
    memory.begin(objects.count, number: readAheadNumber)
    var prefetch = Prefetch(context: self, objects: objects, shared: memory)
    defer { memory = prefetch.shared }
    try prefetch.run(keyPaths)
  }

  /// The IDs of the objects that match a request.
  public func fetchIDs(_ request: FetchRequest) throws -> [ManagedObjectID] {
    followExtensions()
    return try measuring(.fetch, of: request.entityName) { try fetchIDsNow(request) }
  }

  func fetchIDsNow(_ request: FetchRequest) throws -> [ManagedObjectID] {
    try FetchPlan(request, in: self).objectIDs()
  }

  /// The same, packed.
  package func fetchIDList(_ request: FetchRequest) throws -> IDList { try FetchPlan(request, in: self).idList() }

  /// How many objects match a request.
  public func count(_ request: FetchRequest) throws -> Int {
    followExtensions()
    return try measuring(.count, of: request.entityName) { try FetchPlan(request, in: self).count() }
  }

  /// How a request is answered, in lines for a person: what each store does (the statement that it runs, and below it the steps of the
  /// engine's own plan, with the indexes that it goes through), what is left to the context and why, and what unsaved changes add. No rows
  /// are read.
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

  /// The request of a template of the model, with its variables replaced by values of Swift's types.
  @_disfavoredOverload
  public func fetchRequest(fromTemplate name: String, substituting values: ConvertibleValues) throws -> FetchRequest {
    try fetchRequest(fromTemplate: name, substituting: [String: Value](values))
  }

  /// The request of a template of the model, with its variables replaced.
  ///
  /// Throws for an unknown template and for a variable without a value.
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
