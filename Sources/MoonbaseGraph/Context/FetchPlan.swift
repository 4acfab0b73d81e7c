import MoonbaseModel

/// Divides a fetch between the stores and the context.
///
/// A store gets the conditions and sort keys that it can evaluate. What is left (transient and impure derived attributes,
/// unsaved changes, several stores) the context does in memory, and limits count only after that.
struct FetchPlan {
  let request: FetchRequest
  let context: ManagedObjectContext
  let entity: ResolvedEntity
  private let stores: [any PersistentStore]
  /// Changed objects that may enter or leave the result.
  private let pending: [ManagedObject]
  private let matcher: CompiledPredicate?
  private let sort: CompiledSort?

  init(_ request: FetchRequest, in context: ManagedObjectContext) throws {
    let entity = try context.entity(request.entityName)
    let request = try request.checked(in: context.model)
    self.request = request
    self.context = context
    self.entity = entity
    stores = context.coordinator.stores(for: entity, includingSubentities: request.includesSubentities)
    let entities = request.includesSubentities ? entity.subtree : entity.index..<entity.index + 1
    if request.includesPendingChanges {
      try context.processPendingChanges()
      pending = context.changedObjects.filter { entities.contains($0.entity.index) }
    } else {
      pending = []
    }
    matcher = try request.predicate.map { try CompiledPredicate($0, entity: entity, in: context.model) }
    sort =
      request.sortDescriptors.isEmpty
      ? nil : try CompiledSort(request.sortDescriptors, entity: entity, in: context.model)
  }

  // MARK: Results

  func objects() throws -> [ManagedObject] {
    if let (store, query) = try exactQuery() {
      guard request.includesPropertyValues, request.fetchBatchSize == 0 else {
        return try faults(store.objectIDs(matching: query))
      }
      return try context.objects(
        for: store.snapshots(matching: query), refreshing: request.shouldRefreshRefetchedObjects)
    }
    return window(try sorted(try matching()))
  }

  /// Objects without their values; with a batch size they read theirs together.
  private func faults(_ ids: [ManagedObjectID]) throws -> [ManagedObject] {
    let objects = try ids.map { try context.object(with: $0) }
    guard request.fetchBatchSize > 0 else { return objects }
    let batch = FaultBatch(ids, size: request.fetchBatchSize)
    for object in objects where object.needsRow { object.batch = batch }
    return objects
  }

  func objectIDs() throws -> [ManagedObjectID] {
    if let (store, query) = try exactQuery() { return try store.objectIDs(matching: query) }
    return try objects().map(\.objectID)
  }

  func count() throws -> Int {
    if let (store, query) = try exactQuery() {
      var unbounded = query
      unbounded.limit = 0
      unbounded.offset = 0
      unbounded.sortDescriptors = []
      let rest = max(0, try store.count(matching: unbounded) - request.fetchOffset)
      return request.fetchLimit > 0 ? min(rest, request.fetchLimit) : rest
    }
    return window(try matching()).count
  }

  // MARK: The store's part

  /// The query that gives the result as it is, if one store can do all of it.
  private func exactQuery() throws -> (any PersistentStore, StoreQuery)? {
    guard stores.count == 1, pending.isEmpty else { return nil }
    let store = stores[0]
    var query = baseQuery()
    if let predicate = request.predicate, try !store.canEvaluate(predicate, for: query) { return nil }
    query.predicate = request.predicate
    for key in request.sortDescriptors {
      guard try store.canSort(by: key, for: query) else { return nil }
      query.sortDescriptors.append(key)
    }
    query.limit = request.fetchLimit
    query.offset = request.fetchOffset
    return (store, query)
  }

  private func baseQuery() -> StoreQuery {
    var query = StoreQuery(entity: entity, in: context.model, includesSubentities: request.includesSubentities)
    query.functions = context.domain.pureFunctions
    return query
  }

  /// The conditions of a predicate that the store can evaluate, and whether these are all.
  private func split(_ store: any PersistentStore) throws -> (pushed: Predicate?, isComplete: Bool) {
    guard let predicate = request.predicate else { return (nil, true) }
    let base = baseQuery()
    if try store.canEvaluate(predicate, for: base) { return (predicate, true) }
    guard case .and(let conditions) = predicate else { return (nil, false) }
    var pushed = try conditions.filter { try store.canEvaluate($0, for: base) }
    // Conditions that it can evaluate one by one may be too many for one query.
    while try !pushed.isEmpty && !store.canEvaluate(.and(pushed), for: base) {
      pushed.removeLast((pushed.count + 1) / 2)
    }
    return (pushed.isEmpty ? nil : .and(pushed), false)
  }

  // MARK: The context's part

  private func matching() throws -> [ManagedObject] {
    var result: [ManagedObject] = []
    let changed = Set(pending.map(ObjectIdentifier.init))
    // Without unsaved changes a changed object is judged by its twin of a context where nothing changed.
    let saved = request.includesPendingChanges ? nil : ManagedObjectContext(context.coordinator, domain: context.domain)
    for store in stores {
      let (pushed, isComplete) = try split(store)
      var query = baseQuery()
      query.predicate = pushed
      let snapshots = try store.snapshots(matching: query)
      let objects = try context.objects(for: snapshots, refreshing: request.shouldRefreshRefetchedObjects)
      for (object, snapshot) in zip(objects, snapshots) {
        if changed.contains(ObjectIdentifier(object)) { continue }
        let judged = object.hasChanges ? try saved?.object(for: snapshot) ?? object : object
        if isComplete { result.append(object) } else if try matches(judged) { result.append(object) }
      }
    }
    for object in pending where !object.isDeleted {
      if try matches(object) { result.append(object) }
    }
    return result
  }

  private func matches(_ object: ManagedObject) throws -> Bool { try matcher?.matches(object) ?? true }

  private func sorted(_ objects: [ManagedObject]) throws -> [ManagedObject] {
    try sort?.sorted(objects) ?? objects
  }

  private func window(_ objects: [ManagedObject]) -> [ManagedObject] {
    guard request.fetchOffset > 0 || request.fetchLimit > 0 else { return objects }
    let rest = objects.dropFirst(request.fetchOffset)
    return Array(request.fetchLimit > 0 ? rest.prefix(request.fetchLimit) : rest)
  }
}

extension ManagedObjectContext {
  /// The objects of rows that were read. With `refreshing`, objects that have their values already take the new ones, with
  /// unsaved changes on top.
  func objects(for snapshots: [Snapshot], refreshing: Bool = false) throws -> [ManagedObject] {
    coordinator.refreshRows(snapshots)
    if refreshing {
      for snapshot in snapshots { registered[snapshot.id]?.takeUnretainedValue().adopt(snapshot) }
    }
    var result: [ManagedObject] = []
    result.reserveCapacity(snapshots.count)
    registered.reserveCapacity(snapshots.count)
    for snapshot in snapshots { result.append(try object(for: snapshot)) }
    return result
  }
}
