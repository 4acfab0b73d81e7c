public import MoonbaseModel
import MoonbasePlatform

extension ManagedObjectContext {
  /// Prepares the context for a fetch, or for a lookup in place of a fetch.
  ///
  /// Waits for a save in progress, and marks a derived value that is being computed as dependent on any change. Throws
  /// within functions of batch updates, which run in the store.
  func beginFetch(of entityName: String) throws {
    try ManagedObjectContext.refuseWithinFunctions("a fetch of \(entityName) was asked for")
    waitForPendingSave()
    recordUntrackedRead()
  }

  /// Merges saves of other contexts, and applies pending delete rules.
  ///
  /// Called at the beginning of a read, so that results reflect the saves that were announced until then. With
  /// `appliesDeleteRules`, deletions of the current event take their effects first.
  func mergeAnnouncedChanges(appliesDeleteRules: Bool = true) throws {
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
  package func fetchNow(_ request: FetchRequest) throws -> [ManagedObject] {
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
    memory.begin(objects.count, number: readAhead.number)
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
  package func fetchIDsNow(_ request: FetchRequest) throws -> [ManagedObjectID] {
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
  /// Throws as the variant with values of type `Value` does.
  @_disfavoredOverload
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

/// The result of a request of any result type, read during iteration.
///
/// ```swift
/// var request = FetchRequest("Person")
/// request.resultType = .count
/// if case .count(let number) = try context.execute(request) { print(number) }
/// ```
/// A case for each `FetchRequest.resultType`.
public enum FetchResult {
  /// Managed objects.
  case objects(FetchedObjects)
  /// Object IDs.
  case objectIDs(LazyFetchResults<ManagedObjectID>)
  /// Values by column name.
  case dictionaries(LazyFetchResults<[String: Value]>)
  /// The number of objects that match.
  case count(Int)
}

extension ManagedObjectContext {
  /// Runs a request and returns the kind of result that its `resultType` specifies.
  ///
  /// Throws as `fetchedObjects`, `fetchedObjectIDs`, `fetchedDictionaries` and `count` do.
  public func execute(_ request: FetchRequest) throws -> FetchResult {
    switch request.resultType {
    case .objects: .objects(try fetchedObjects(request))
    case .objectIDs: .objectIDs(try fetchedObjectIDs(request))
    case .dictionaries: .dictionaries(try fetchedDictionaries(request))
    case .count: .count(try count(request))
    }
  }

  /// Values instead of objects: a dictionary for each group, or for each object if the request has neither groups nor
  /// aggregates.
  ///
  /// The columns are the request's `propertiesToFetch`, or all attributes. `@count` of a key path skips nulls; `@sum`
  /// over no values is 0; `@avg`, `@min` and `@max` over no values are absent, as is every null. An aggregate beside
  /// plain columns without groups repeats its value in all rows. `havingPredicate` can use the columns of a group, the
  /// group keys, and functions over the group's objects. Only saved rows and values count, without unsaved changes.
  ///
  /// Throws as `fetch` does, for columns that do not fit the entity, and if the rows exceed the memory of the running
  /// script.
  public func fetchDictionaries(_ request: FetchRequest) throws -> [[String: Value]] {
    let rows = try DictionaryRows(request, in: self)
    var result: [[String: Value]] = []
    var memory = HostMemory()
    try rows.forEach { values in
      try memory.hold(64 + values.reduce(64 * values.count) { $0 + $1.weight })
      result.append(rows.dictionary(values))
    }
    return result
  }
}

extension ManagedObjectContext {
  /// Passes the rows that match a request to `body` in batches without keeping them, for callers that read rows only.
  ///
  /// If the session is consistent, all rows are of one state and `body` may read more of that state, even if the
  /// session cannot be held open beside writers. Otherwise rows are read by the keys found, without rows deleted
  /// meanwhile. Returns false, without calling `body`, if rows do not suffice: with unsaved changes, several stores, or
  /// conditions that the context evaluates.
  package func forEachRowBatch(matching request: FetchRequest, _ body: (RowBatch) throws -> Void) throws -> Bool {
    let plan = try FetchPlan(request, in: self, readsObjects: true)
    guard let (store, query) = plan.storeQuery, !plan.hasPending else { return false }
    try plan.reading {
      let session = try plan.view.session(of: store)
      guard session.isConsistent else { return try forEachRowBatch(of: session, matching: query, body) }
      let pages = PageReader(try session.rows(matching: query), mayReadAhead: query.runsNoFunctions)
      // Before the view ends, which would wait for the thread that reads ahead.
      defer { pages.stop() }
      while case let rows = try pages.next(upTo: RowPage.capacity), !rows.isEmpty { try body(rows) }
    }
    return true
  }

  /// Reads the rows by the keys found, in the order of the keys, for a session that has no single state.
  private func forEachRowBatch(
    of session: any ReadSession, matching query: StoreQuery, _ body: (RowBatch) throws -> Void
  ) throws {
    let ids = try session.objectIDs(matching: query)
    for start in stride(from: 0, to: ids.count, by: RowPage.capacity) {
      let part = Array(ids[start..<min(ids.count, start + RowPage.capacity)])
      let rows = try session.snapshots(of: part)
      let places = Dictionary(zip(part, part.indices)) { first, _ in first }
      try body(RowBatch(rows.sorted { places[$0.id] ?? 0 < places[$1.id] ?? 0 }))
    }
  }
}

extension ManagedObjectContext {
  /// The IDs of the objects that match a request, read during iteration.
  ///
  /// Throws as `fetch` does for a request that does not fit the model.
  ///
  /// Deleted objects and unsaved changes count as in `fetchIDs`. The request is checked now, and read when an iteration
  /// begins.
  public func fetchedObjectIDs(_ request: FetchRequest) throws -> LazyFetchResults<ManagedObjectID> {
    _ = try checked(request)
    return LazyFetchResults(self) { try FetchPlan(request, in: self, isKept: true).idBatches() }
  }

  /// Returns a closure for the batches of a dictionary result, which returns nil at the end. The walk does not retain
  /// the context. For callers that manage the life of the context, for example scripts. Throws as `fetchDictionaries`
  /// does.
  package func dictionaryBatches(_ request: FetchRequest) throws -> () throws -> [[String: Value]]? {
    let walk = try DictionaryWalk(DictionaryRows(request, in: self, isKept: true))
    return { try walk.next() }
  }

  /// The rows of `fetchDictionaries`, read during iteration and released afterwards. Groups and aggregates over all
  /// objects are computed at once.
  ///
  /// Throws as `fetchDictionaries` does for a request that does not fit the model.
  public func fetchedDictionaries(_ request: FetchRequest) throws -> LazyFetchResults<[String: Value]> {
    _ = try DictionaryRows(request, in: self)
    return LazyFetchResults(self) {
      let walk = try DictionaryWalk(DictionaryRows(request, in: self, isKept: true))
      return { try walk.next() }
    }
  }
}

/// Walks over results.
extension ManagedObjectContext {
  /// The objects that match a request, as a collection that reads rows in batches and creates objects on access.
  ///
  /// If the request excludes property values (`includesPropertyValues`), only the keys are read now, and rows by key
  /// during iteration.
  ///
  /// Throws as `fetch` does.
  public func fetchedObjects(_ request: FetchRequest) throws -> FetchedObjects {
    try FetchPlan(request, in: self, isKept: true).results(readsKeys: !request.includesPropertyValues)
  }

  /// The collection for a walk that does not retain the context and accesses only existing objects. Used by scripts.
  package func walk(_ request: FetchRequest) throws -> FetchedObjects {
    try FetchPlan(request, in: self, isKept: true).results(holdsContext: false)
  }

  /// The registered object of an ID, or a new fault. For an ID of an unknown entity, the values of the fault cannot be
  /// read.
  package func fault(_ id: ManagedObjectID) -> ManagedObject {
    if let known = registeredObject(for: id) { return known }
    let entity = model.entity(of: id) ?? model.entities[0]
    let type = coordinator.objectClass(of: entity)
    let table = table(of: id.kind, entity: entity)
    return type.init(ManagedObject.InitializationToken(table: table, key: id.key, state: .fault))
  }
}

extension ManagedObjectContext {
  /// Announces rows that will be needed, so that faults read them in groups. Replaces an earlier announcement. The IDs
  /// count in the context's memory until they are read or forgotten.
  func readTogether(_ ids: IDList) throws {
    let wanted = DeferredRows(ids)
    try HostMemory.require(wanted.weight)
    forgetDeferredRows()
    weigh(wanted.weight)
    readAhead.deferredRows = wanted
  }

  /// Forgets announced rows.
  func forgetDeferredRows() {
    guard let wanted = readAhead.deferredRows else { return }
    weigh(-wanted.weight)
    readAhead.deferredRows = nil
  }

  /// Reads the group of announced rows to which a fault belongs. Does nothing if the ID was not announced.
  func readWantedRows(around id: ManagedObjectID) throws {
    if let ids = readAhead.deferredRows?.remove(around: id) { try loadRows(of: ids) }
  }
}
