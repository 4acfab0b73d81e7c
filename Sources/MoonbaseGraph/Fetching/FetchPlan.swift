package import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

package import enum MoonbaseModel.Predicate

/// Divides a fetch between the stores and the context.
///
/// Each store returns a plan with the conditions that it executes (`QueryPlan`). The context evaluates the rest in
/// memory (transient and impure derived attributes, several stores), and applies limits afterwards. Unsaved changes are
/// merged into the result: changed objects are removed from the store's rows, and added if they match with their
/// current values.
///
/// Made for each request and used once. The order of steps for objects: ask the stores (`parts`), read in `view`,
/// evaluate what stores do not (`matcher`, `sort`), merge changed objects, apply the window.
///
/// `storeQuery` is the fast case: a single store executes the whole request.
package struct FetchPlan {
  /// The checked request.
  let request: FetchRequest
  /// The context that fetches.
  let context: ManagedObjectContext
  /// The entity of the request.
  let entity: ResolvedEntity
  /// The entity and its subentities.
  private let entities: Range<EntityIndex>
  /// The plan of each store. A single store may also sort and apply the window.
  package let parts: [(store: any PersistentStore, plan: QueryPlan)]
  /// Whether changed objects may enter or leave the result.
  let hasPending: Bool
  /// The compiled predicate; nil for all objects.
  private let matcher: CompiledPredicate?
  /// The compiled order; nil for none.
  let sort: CompiledSort?
  /// Results shared by the evaluations of a fetch; nil if predicate and order have none to share.
  let memo: EvaluationMemo?
  /// Unchanged objects whose values along a key path depend on changed objects. They count as changed.
  private let affected: OrderedSet<ManagedObject>
  /// The view in which the fetch reads.
  let view: ReadView
  /// Whether unsaved changes must not count, although related objects that are evaluated may have some.
  private let isWithoutChanges: Bool
  /// Whether reading is spread over several calls, between which other contexts may save.
  let isKept: Bool

  /// With `isKept`, the view lasts for a walk. With `readsObjects`, the caller reads the objects of the result in the
  /// same view. Throws `.unknownName`, `.invalidRequest`, and errors of predicates; a pending error of the
  /// context is thrown as well.
  package init(
    _ request: FetchRequest, in context: ManagedObjectContext, columns: QueryColumns? = nil, isKept: Bool = false,
    readsObjects: Bool = false
  ) throws {
    try context.beginFetch(of: request.entityName)
    let entity = try context.entity(request.entityName)
    let request = try context.checked(request)
    (self.request, self.isKept) = (request, isKept)
    self.context = context
    self.entity = entity
    entities = entity.indexes(includingSubentities: request.includesSubentities)
    try context.mergeAnnouncedChanges(appliesDeleteRules: request.includesPendingChanges)
    hasPending = request.includesPendingChanges && context.hasChanges
    matcher = try request.predicate.map { try CompiledPredicate($0, entity: entity, in: context.model) }
    sort =
      request.sortDescriptors.isEmpty
      ? nil : try CompiledSort(request.sortDescriptors, entity: entity, in: context.model)
    memo = matcher?.hasSharedParts == true || sort?.hasSharedParts == true ? EvaluationMemo() : nil
    let related = context.hasChanges ? try RelatedChanges(request, of: entity, in: context) : nil
    isWithoutChanges = !request.includesPendingChanges && related?.isEmpty == false
    affected = hasPending ? try related?.owners(entities) ?? [] : []
    parts = try Self.parts(of: request, entity: entity, entities: entities, columns: columns, in: context)
    let isOneCall =
      parts.count == 1 && parts[0].plan.isComplete && !hasPending
      && request.relationshipKeyPathsForPrefetching.isEmpty && !isKept
      && !(readsObjects && parts[0].plan.query.columns == nil)
    view = ReadView(context.source, extent: isOneCall ? .oneCall : .view, isKept: isKept)
  }

  /// Runs `body` so that all its reads, also beyond the rows of the fetch, use the view. Faults that fire meanwhile are
  /// read from the same state.
  func reading<Result>(_ body: () throws -> Result) rethrows -> Result { try context.reading(in: view, body) }

  /// Asks each store that holds the entity for its plan. Throws an error if no store holds the entity.
  private static func parts(
    of request: FetchRequest, entity: ResolvedEntity, entities: Range<EntityIndex>, columns: QueryColumns?,
    in context: ManagedObjectContext
  ) throws -> [(store: any PersistentStore, plan: QueryPlan)] {
    let stores = context.source.stores(for: entity, includingSubentities: request.includesSubentities)
    var query = StoreQuery(entity: entity, in: context.model, includesSubentities: request.includesSubentities)
    query.functions = context.extensionRegistry.pureFunctions
    query.predicate = request.predicate
    query.narrowingCondition = try request.predicate.flatMap {
      try context.indexedCondition($0, of: entity, entities: entities, inRows: true)
    }
    if stores.count == 1 {
      query.sortDescriptors = request.sortDescriptors
      (query.limit, query.offset) = (request.fetchLimit, request.fetchOffset)
      query.columns = columns
    }
    // An empty result would wrongly mean that there are no objects.
    guard !stores.isEmpty else { throw context.coordinator.noStore(holding: entity) }
    return try stores.map { ($0, try $0.plan(query)) }
  }

  // MARK: Results

  /// The objects that match, in order and within the window. Throws errors of the stores, and of evaluating the
  /// predicate.
  func objects() throws -> [ManagedObject] {
    let twins = CommittedCopies(of: context)
    guard let (store, query) = storeQuery else { return window(try sorted(matching(twins), twins: twins)) }
    let pending = try pendingMatches()
    if let merged = try merged(pending, with: query, of: store, twins: twins) { return try read(window(merged)) }
    return try objects(query, of: store, with: pending, twins: twins)
  }

  /// The saved and the changed objects. A sorted result with changes is sorted again as a whole. Only rows of unchanged
  /// objects are read from the store.
  private func objects(
    _ query: StoreQuery, of store: any PersistentStore, with pending: [ManagedObject], twins: CommittedCopies
  ) throws -> [ManagedObject] {
    let saved: [ManagedObject]
    // To sort by the store's current values, the rows are needed even if objects already have values.
    let isSortedAnew = sort != nil && !pending.isEmpty
    if isSortedAnew || request.includesPropertyValues && request.fetchBatchSize == 0 {
      if !hasPending { return try allObjects(query, of: store) }
      let rows = try unchangedRows(query, in: view.session(of: store))
      saved = try context.objects(for: RowBatch(rows), refreshing: request.shouldRefreshRefetchedObjects)
      if isSortedAnew { for (object, row) in zip(saved, rows) { _ = try twins.judged(object, by: row) } }
    } else {
      if !hasPending, request.fetchBatchSize == 0 { return try allFaults(query, of: store) }
      saved = try faults(unchangedIDs(query, in: view.session(of: store)))
    }
    guard hasPending else { return saved }
    return window(pending.isEmpty ? saved : try sorted(saved + pending, twins: twins))
  }

  /// The objects of all rows that the store finds, created while rows are read. Rows are read ahead on another thread,
  /// if the query allows it.
  private func allObjects(_ query: StoreQuery, of store: any PersistentStore) throws -> [ManagedObject] {
    guard HostWork.greatestValue == .max else {
      // Under a memory limit, the weight of all objects is checked before the first is created.
      let rows = try view.session(of: store).snapshots(matching: query)
      return try context.objects(for: RowBatch(rows), refreshing: request.shouldRefreshRefetchedObjects)
    }
    let pages = PageReader(try view.session(of: store).rows(matching: query), mayReadAhead: query.runsNoFunctions)
    var objects: [ManagedObject] = []
    while case let rows = try pages.next(upTo: RowPage.capacity), !rows.isEmpty {
      objects += try context.objects(for: rows, refreshing: request.shouldRefreshRefetchedObjects)
    }
    return objects
  }

  /// Faults for all rows that the store finds, created while keys are read. Only keys are read.
  private func allFaults(_ query: StoreQuery, of store: any PersistentStore) throws -> [ManagedObject] {
    let ids = try view.session(of: store).ids(matching: query)
    var objects: [ManagedObject] = []
    while case let page = try ids.next(upTo: IDList.pageSize), !page.isEmpty {
      objects += try context.objects(with: page)
    }
    return objects
  }

  /// Faults; with a batch size, they are grouped to read their rows together. The rows of a group are read when its
  /// first object is accessed.
  private func faults(_ ids: [ManagedObjectID]) throws -> [ManagedObject] {
    let objects = try context.objects(with: ids)
    let size = request.fetchBatchSize
    guard size > 0 else { return objects }
    for start in stride(from: 0, to: ids.count, by: size) {
      let end = min(ids.count, start + size)
      let batch = FaultBatch(ids: Array(ids[start..<end]))
      for object in objects[start..<end] where object.needsRow { object.join(batch) }
    }
    return objects
  }

  /// Objects in the order of their IDs, with values if the request includes them. Used for merged IDs.
  private func read(_ ids: [ManagedObjectID]) throws -> [ManagedObject] {
    let objects = try faults(ids)
    if request.includesPropertyValues && request.fetchBatchSize == 0 { try context.loadRows(of: ids) }
    return objects
  }

  /// The IDs of the result, packed. Without unsaved changes, no array of IDs is made.
  func idList() throws -> IDList {
    guard let (store, query) = storeQuery, !hasPending else { return IDList(try objectIDs()) }
    return try view.session(of: store).objectIDs(matching: query)
  }

  /// The IDs of the objects that match, in order and within the window. Temporary IDs of new objects are included.
  func objectIDs() throws -> [ManagedObjectID] {
    guard let (store, query) = storeQuery else {
      return try sort == nil ? window(matchingIDs()) : objects().map(\.objectID)
    }
    return try objectIDs(query, of: store, with: pendingMatches())
  }

  /// The IDs if a single store executes the whole request, merged with the changed objects that match. Only IDs are
  /// read, unless the order has to be computed.
  private func objectIDs(
    _ query: StoreQuery, of store: any PersistentStore, with pending: [ManagedObject]
  ) throws -> [ManagedObjectID] {
    guard hasPending else { return Array(try view.session(of: store).objectIDs(matching: query)) }
    guard sort != nil, !pending.isEmpty else {
      return window(try unchangedIDs(query, in: view.session(of: store)) + pending.map(\.objectID))
    }
    let twins = CommittedCopies(of: context)
    if let merged = try merged(pending, with: query, of: store, twins: twins) { return window(merged) }
    return try objects(query, of: store, with: pending, twins: twins).map(\.objectID)
  }

  /// The result as a collection that reads rows on demand from a view that is held open. Rows are read directly if
  /// unsaved changes do not matter, otherwise the keys are read now. If the store keeps no view, a single page of rows
  /// is read completely, and of more rows the keys; rows of a parent context are read completely. `holdsContext` is
  /// false for walks of scripts.
  func results(readsKeys: Bool = false, holdsContext: Bool = true) throws -> FetchedObjects {
    try reading {
      guard let (store, query) = storeQuery, !readsKeys, !hasPending else {
        return FetchedObjects(ids: try idList(), plan: self, holdsContext: holdsContext)
      }
      let session = try view.session(of: store)
      if readsByKeys {
        guard let rows = try onlyPage(of: query, in: session) else {
          return FetchedObjects(ids: try session.objectIDs(matching: query), plan: self, holdsContext: holdsContext)
        }
        return FetchedObjects(rows: rows, plan: self, holdsContext: holdsContext)
      }
      if !view.canBeHeldOpen {
        return FetchedObjects(rows: try session.snapshots(matching: query), plan: self, holdsContext: holdsContext)
      }
      let pages = PageReader(try session.rows(matching: query), mayReadAhead: query.runsNoFunctions)
      return try FetchedObjects(pages, of: store, query, plan: self, holdsContext: holdsContext)
    }
  }

  /// The number of objects that match, within the window. The store counts if possible. Unsaved changes count.
  func count() throws -> Int {
    guard parts.count == 1, parts[0].plan.isExact else {
      var count = 0
      try forEachMatch(CommittedCopies(of: context)) { _ in
        count += 1
        return count < windowEnd
      }
      return max(0, count - request.fetchOffset)
    }
    let (store, query) = (parts[0].store, parts[0].plan.query.withoutWindow)
    let all =
      hasPending
      ? try unchangedCount(store, matching: query) + pendingMatches().count
      : try view.session(of: store).count(matching: query)
    let rest = max(0, all - request.fetchOffset)
    return request.fetchLimit > 0 ? min(rest, request.fetchLimit) : rest
  }

  // MARK: The store's part

  /// Passes the matching rows to `body` in pages until it returns false. Read ahead, if the query allows it.
  private func forEachPage(
    _ query: StoreQuery, of store: any PersistentStore, _ body: (RowBatch) throws -> Bool
  ) throws {
    let pages = PageReader(try view.session(of: store).rows(matching: query), mayReadAhead: query.runsNoFunctions)
    while case let rows = try pages.next(upTo: RowPage.capacity), !rows.isEmpty, try body(rows) {}
  }

  /// The query for all saved rows of the result in order, if a single store can execute the whole request. With its
  /// columns, order and window.
  var storeQuery: (any PersistentStore, StoreQuery)? {
    guard parts.count == 1, parts[0].plan.isComplete else { return nil }
    return (parts[0].store, parts[0].plan.query)
  }

  // MARK: Unsaved changes

  /// Whether an object has unsaved changes, or depends on some.
  private func isChanged(_ id: ManagedObjectID) -> Bool {
    context.registered[id].map { isChanged($0.takeUnretainedValue()) } ?? false
  }

  /// Whether an object has unsaved changes, or depends on some.
  private func isChanged(_ object: ManagedObject) -> Bool {
    object.state.contains(.listed) || !affected.isEmpty && affected.contains(object)
  }

  /// The results of a query without changed objects. With a limit, slightly more rows are requested at first, and many
  /// more only if these do not suffice. `read` may be called several times with growing limits.
  private func unchanged<Row>(
    _ query: StoreQuery, _ id: (Row) -> ManagedObjectID, _ read: (StoreQuery) throws -> [Row]
  ) throws -> [Row] {
    guard hasPending else { return try read(query) }
    var query = query
    let (wanted, isAll) = query.limit.addingReportingOverflow(query.offset)
    let isBounded = query.limit > 0 && !isAll
    query.offset = 0
    var more = Self.fewMore
    while true {
      let (limit, overflow) = wanted.addingReportingOverflow(more)
      query.limit = isBounded && !overflow ? limit : 0
      let rows = try read(query)
      let kept = rows.filter { !isChanged(id($0)) }
      if query.limit == 0 || rows.count < query.limit || kept.count >= wanted { return kept }
      more *= 8
    }
  }

  /// The IDs of a query's rows without changed objects. In the order of the query.
  func unchangedIDs(_ query: StoreQuery, in session: any ReadSession) throws -> [ManagedObjectID] {
    try unchanged(query, \.self) { Array(try session.objectIDs(matching: $0)) }
  }

  /// The rows of a query without changed objects. If slightly more rows do not suffice, for example behind many deleted
  /// objects, IDs are read: then no rows of changed objects before the window are read. Throws errors of the store.
  private func unchangedRows(_ query: StoreQuery, in session: any ReadSession) throws -> [Snapshot] {
    let (wanted, isAll) = query.limit.addingReportingOverflow(query.offset)
    let (limit, overflow) = wanted.addingReportingOverflow(Self.fewMore)
    let changedCount = context.changedObjects.count + affected.count
    guard hasPending, query.limit > 0, !isAll, !overflow, changedCount > Self.fewMore else {
      return try unchanged(query, \.id, session.snapshots)
    }
    var beginning = query
    (beginning.limit, beginning.offset) = (limit, 0)
    let first = try session.snapshots(matching: beginning)
    let kept = first.filter { !isChanged($0.id) }
    if first.count < limit || kept.count >= wanted { return kept }
    let ids = try unchangedIDs(query, in: session).prefix(wanted)
    var rows = Dictionary(kept.map { ($0.id, $0) }) { row, _ in row }
    for row in try session.snapshots(of: ids.filter { rows[$0] == nil }) { rows[row.id] = row }
    return ids.compactMap { rows[$0] }
  }

  /// The number of rows that are read beyond the window at first.
  private static let fewMore = 16

  /// The greatest number of changed rows that the store excludes by their IDs.
  private static let fewRows = 100

  /// The number of a query's rows without changed objects. If there are few changed objects, the store excludes them by
  /// their IDs; otherwise the IDs are counted here.
  private func unchangedCount(_ store: any PersistentStore, matching query: StoreQuery) throws -> Int {
    var rows: [Value] = []
    for object in [Array(context.changedObjects), Array(affected)].joined()
    where entities.contains(object.entity.index) && !object.objectID.isTemporaryID && rows.count <= Self.fewRows {
      rows.append(.objectID(object.objectID))
    }
    let session = try view.session(of: store)
    if rows.isEmpty { return try session.count(matching: query) }
    let others = Predicate.not(.comparison(.init(.evaluatedObject, .in, .constant(.list(rows)))))
    let condition = query.predicate.map { Predicate.and([$0, others]) } ?? others
    if rows.count <= Self.fewRows {
      var narrowed = query
      narrowed.predicate = condition
      let plan = try store.plan(narrowed)
      if plan.isComplete { return try session.count(matching: plan.query) }
    }
    return try session.objectIDs(matching: query).reduce(0) { $0 + (isChanged($1) ? 0 : 1) }
  }

  /// The changed objects that match with their current values. Includes unchanged objects that depend on changed ones.
  private func pendingMatches() throws -> [ManagedObject] {
    guard hasPending else { return [] }
    let changed: [ManagedObject] = try context.changedObjects(
      matching: request.predicate, of: entity, entities: entities)
    return try (changed + affected).filter { try !$0.isDeleted && matches($0) }
  }

  // MARK: The context's part

  /// Passes the objects that the context finds to `body`, saved ones first, until it returns false. Objects that do not
  /// match are released as rows are read. If all are kept, their weight is checked before they are created. All reads
  /// use the view.
  private func forEachMatch(
    _ twins: CommittedCopies, keepsAll: Bool = false, _ body: (ManagedObject) throws -> Bool
  ) throws {
    try reading { try readEachMatch(twins, keepsAll: keepsAll, body) }
  }

  /// Within the view.
  private func readEachMatch(
    _ twins: CommittedCopies, keepsAll: Bool, _ body: (ManagedObject) throws -> Bool
  ) throws {
    var goesOn = true
    for (store, plan) in parts where goesOn {
      let query = plan.query.withoutWindow
      if keepsAll, plan.isExact {
        try HostMemory.require(view.session(of: store).count(matching: query) &* ManagedObject.ownWeight)
      }
      try forEachPage(query, of: store) { rows in
        let objects = try context.objects(for: rows, refreshing: request.shouldRefreshRefetchedObjects)
        for (object, row) in zip(objects, rows) where goesOn {
          try HostWork.charge()
          if hasPending, isChanged(object) { continue }
          let judged = try twins.judged(object, by: row, always: isWithoutChanges)
          if try plan.isExact || matches(judged) { goesOn = try body(object) }
        }
        return goesOn
      }
    }
    guard goesOn else { return }
    for object in try pendingMatches() {
      if try !body(object) { return }
    }
  }

  /// The objects that the context finds, without order and window; an unsorted result ends with the window. A sorted
  /// result is complete.
  func matching(_ twins: CommittedCopies) throws -> [ManagedObject] {
    var result: [ManagedObject] = []
    let bound = sort == nil ? windowEnd : .max
    try forEachMatch(twins, keepsAll: bound == .max) { object in
      result.append(object)
      return result.count < bound
    }
    return result
  }

  /// The IDs of the objects that the context finds, in its order. The memory of the IDs is charged.
  private func matchingIDs() throws -> [ManagedObjectID] {
    var result: [ManagedObjectID] = []
    var memory = HostMemory()
    try forEachMatch(CommittedCopies(of: context)) { object in
      result.append(object.objectID)
      try memory.hold(MemoryLayout<ManagedObjectID>.stride)
      return result.count < windowEnd
    }
    return result
  }

  /// The number of rows up to the end of the window. `Int.max` for no limit.
  var windowEnd: Int {
    let (end, overflow) = request.fetchOffset.addingReportingOverflow(request.fetchLimit)
    return request.fetchLimit > 0 && !overflow ? end : .max
  }

  /// Evaluates the whole predicate.
  func matches(_ object: ManagedObject) throws -> Bool { try matcher?.matches(object, memo: memo) ?? true }

  /// Copies take the place of objects while sorting.
  func sorted(_ objects: [ManagedObject], twins: CommittedCopies) throws -> [ManagedObject] {
    guard let sort else { return objects }
    return try twins.replacing(objects) { try sort.sorted($0, memo: memo) }
  }

  /// The rows from the offset to the limit. Unchanged without limit and offset.
  private func window<Row>(_ rows: [Row]) -> [Row] {
    guard request.fetchOffset > 0 || request.fetchLimit > 0 else { return rows }
    let rest = rows.dropFirst(request.fetchOffset)
    return Array(request.fetchLimit > 0 ? rest.prefix(request.fetchLimit) : rest)
  }
}

/// Parts of queries.
extension StoreQuery {
  /// Whether the store calls no script functions, which are confined to the calling thread.
  var runsNoFunctions: Bool { functions == nil || predicate == nil && sortDescriptors.isEmpty }

  /// The query without order and window.
  var withoutWindow: Self {
    var query = self
    (query.limit, query.offset, query.sortDescriptors) = (0, 0, [])
    return query
  }
}
