package import MoonbaseModel
import MoonbasePlatform

package import enum MoonbaseModel.Predicate

/// A store that finds rows by values of plain attributes with a prepared statement, the same for all values.
package protocol LookupStore: PersistentStore {
  /// Prepares a query whose conditions compare with these values in order; nil if the statement depends on the values.
  func lookup(_ query: StoreQuery, of values: [Value]) throws -> (any StoreLookup)?
}

/// A prepared query for values of the same types.
package protocol StoreLookup: AnyObject, Sendable {
  /// The first rows with these values.
  func snapshots(with values: [Value], limit: Int, in session: any ReadSession) throws -> [Snapshot]
}

/// The plan of a fetch for one object by attribute values, reused for the next lookup by the same attributes.
struct ObjectLookup {
  fileprivate let entity: ResolvedEntity
  fileprivate let names: [String]
  fileprivate let slots: [Slot]
  private let entities: Range<EntityIndex>
  private let store: any PersistentStore
  private let lookup: any StoreLookup

  /// The number of rows to read. More than one, because rows of changed objects are skipped.
  private static let limit = 16

  /// Returns nil if only a fetch can find the object.
  init?(_ values: [(name: String, value: Value)], of entity: ResolvedEntity, in context: ManagedObjectContext) throws {
    let entities = entity.indexes(includingSubentities: true)
    let stores = context.source.stores(for: entity, includingSubentities: true)
    guard stores.count == 1, let store = stores[0] as? any LookupStore else { return nil }
    var slots: [Slot] = []
    for (name, _) in values {
      guard let slot = entity.slot(name), entity.property(at: slot).attribute?.isTransient == false,
        try entities.allSatisfy({ try context.behavior(of: context.model.entities[$0]).isStoredAsIs(slot) })
      else { return nil }
      slots.append(slot)
    }
    var query = StoreQuery(entity: entity, in: context.model, includesSubentities: true)
    query.predicate = ObjectLookup.predicate(values)
    query.limit = Self.limit
    guard let lookup = try store.lookup(query, of: values.map(\.value)) else { return nil }
    (self.entity, names, self.slots, self.entities) = (entity, values.map(\.name), slots, entities)
    (self.store, self.lookup) = (store, lookup)
  }

  static func predicate(_ values: [(name: String, value: Value)]) -> Predicate {
    .and(values.map { .comparison(.init(.keyPath(.evaluatedObject, [$0.name]), .equal, .constant($0.value))) })
  }

  /// Whether the plan was made for these attributes.
  fileprivate func isFor(_ values: [(name: String, value: Value)], of entity: ResolvedEntity) -> Bool {
    guard self.entity === entity, names.count == values.count else { return false }
    for index in names.indices where names[index] != values[index].name { return false }
    return true
  }

  /// The outcome of a lookup.
  fileprivate enum Answer {
    case object(ManagedObject?)
    /// Only a fetch can tell.
    case unknown
  }

  /// Looks up the first object with the values.
  fileprivate func first(
    _ values: [(name: String, value: Value)], in context: ManagedObjectContext, mayBeOld: Bool
  ) throws -> Answer {
    let rows = try rows(values.map(\.value), in: context, mayBeOld: mayBeOld)
    for object in try context.objects(for: RowBatch(rows)) where !object.state.contains(.listed) {
      return .object(object)
    }
    if rows.count == Self.limit { return .unknown }
    return context.hasChanges ? try changed(values, in: context) : .object(nil)
  }

  /// The first rows with the values, from a new session or, with `mayBeOld`, from the shared view.
  private func rows(_ values: [Value], in context: ManagedObjectContext, mayBeOld: Bool) throws -> [Snapshot] {
    if mayBeOld {
      return try context.withLookupSession(of: store) {
        try lookup.snapshots(with: values, limit: Self.limit, in: $0)
      }
    }
    let session = try store.beginReading(.oneCall)
    defer { session.end() }
    return try lookup.snapshots(with: values, limit: Self.limit, in: session)
  }

  /// The first changed object that currently has the values. The index may find objects with merely similar values.
  private func changed(
    _ values: [(name: String, value: Value)], in context: ManagedObjectContext
  ) throws -> Answer {
    let condition = IndexedCondition(entities: entities, entity: entity, slots: slots, values: values.map(\.value))
    guard let condition else { return .unknown }
    let found = try context.changedObjects.makeIndex().objects(condition, in: context)
    for object in found where !object.isDeleted {
      for (slot, value) in zip(slots, values) where try !object.read(slot).isSame(as: value.value) { return .unknown }
      return .object(object)
    }
    return .object(nil)
  }
}

extension ManagedObjectContext {
  /// The first object of an entity with the given property values; nil if there is none.
  ///
  /// With `mayBeOld`, consecutive calls read one state of the store, at most 50 milliseconds old and never older than
  /// the last save in this process.
  package func firstObject(
    of entity: ResolvedEntity, with values: [(name: String, value: Value)], mayBeOld: Bool = false
  ) throws -> ManagedObject? {
    let values = values.count > 1 ? values.sorted { $0.name < $1.name } : values
    if let lookup = try lookup(values, of: entity) {
      try beginFetch(of: entity.name)
      try mergeAnnouncedChanges()
      if case .object(let object) = try lookup.first(values, in: self, mayBeOld: mayBeOld) { return object }
    }
    var request = FetchRequest(entity.name)
    request.predicate = ObjectLookup.predicate(values)
    request.fetchLimit = 1
    return try fetch(request).first
  }

  /// The cached or a new plan for these attributes; nil if a fetch is necessary.
  private func lookup(_ values: [(name: String, value: Value)], of entity: ResolvedEntity) throws -> ObjectLookup? {
    guard values.allSatisfy({ $0.value.isFoundAsIs(as: entity.property($0.name)?.attributeType) }) else { return nil }
    let revision = source.revision
    if caches.lookups.revision != revision { caches.lookups = (revision, []) }
    if let known = caches.lookups.known.first(where: { $0.isFor(values, of: entity) }) { return known }
    guard let new = try ObjectLookup(values, of: entity, in: self) else { return nil }
    if caches.lookups.known.count == Self.greatestLookupCount { caches.lookups.known.removeFirst() }
    caches.lookups.known.append(new)
    return new
  }

  private static var greatestLookupCount: Int { 16 }

  /// Runs `body` with the shared view of the store, or with a new view if the shared one ended or is outdated.
  fileprivate func withLookupSession<Result: Sendable>(
    of store: any PersistentStore, _ body: (any ReadSession) throws -> Result
  ) throws -> Result {
    let writings = source.writingCount
    if let kept = caches.lookupSession, kept.store === store, kept.writingCount == writings,
      let result = try kept.withSession(body)
    {
      return result
    }
    endLookups()
    let session = try store.beginReading(.view)
    let result: Result
    do {
      result = try body(session)
    } catch {
      session.end()
      throw error
    }
    // If the view cannot be held open, each call reads the current state.
    guard session.canBeHeldOpen else {
      session.end()
      return result
    }
    caches.lookupSession = LookupSession(session, of: store, writingCount: writings)
    return result
  }

  /// Ends the shared view, so that lookups read the current state again.
  func endLookups() {
    guard let session = caches.lookupSession else { return }
    caches.lookupSession = nil
    session.end()
  }
}

/// A view of a store for lookups in quick succession. It ends after a short time, so that no writer waits for an idle
/// context.
final class LookupSession: Sendable {
  fileprivate let store: any PersistentStore
  fileprivate let writingCount: Int
  private let session: Lock<(any ReadSession)?>

  private static let life = DispatchTimeInterval.milliseconds(50)

  init(_ session: any ReadSession, of store: any PersistentStore, writingCount: Int) {
    (self.store, self.writingCount) = (store, writingCount)
    self.session = Lock(session)
    DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + Self.life) { [weak self] in self?.end() }
  }

  deinit { end() }

  /// Runs `body` with the session; returns nil if the session has ended.
  fileprivate func withSession<Result: Sendable>(_ body: (any ReadSession) throws -> Result) throws -> Result? {
    try session.withLock { session in try session.map(body) }
  }

  func end() {
    let ended = session.withLock { session in
      defer { session = nil }
      return session
    }
    ended?.end()
  }
}

extension Value {
  /// Whether a column of the attribute's type stores the value unchanged, so that the store can compare it.
  fileprivate func isFoundAsIs(as type: AttributeType?) -> Bool {
    switch (type, self) {
    case (.string, .string(let text)): !text.utf8.contains(0)
    case (.integer16, .int), (.integer32, .int), (.integer64, .int), (.boolean, .bool), (.uuid, .uuid): true
    case (.double, .double(let number)): number.isFinite
    default: false
    }
  }
}

extension ManagedObjectContext {
  /// The limit of kept views, each of which may need a connection. With more walks, the oldest read the current state.
  private static let greatestViewCount = 4

  /// A view of a walk, which may be released at any time.
  struct OpenView {
    weak var view: ReadView?
  }

  /// The view that faults read from; nil if they read the current state.
  var view: ReadView? {
    if let pinnedView = readAhead.pinnedView { return pinnedView }
    return readAhead.openViews.isEmpty ? nil : newestView()
  }

  private func newestView() -> ReadView? {
    while let last = readAhead.openViews.last {
      if let view = last.view, !view.isOver { return view }
      readAhead.openViews.removeLast()
    }
    return nil
  }

  /// Runs `body`, whose reads all come from a view.
  func reading<Result>(in view: ReadView?, _ body: () throws -> Result) rethrows -> Result {
    guard let view else { return try body() }
    let former = readAhead.pinnedView
    readAhead.pinnedView = view
    defer { readAhead.pinnedView = former }
    return try body()
  }

  /// Lets faults read from the view of a walk until the view ends.
  func follow(_ view: ReadView) {
    readAhead.openViews.removeAll { $0.view?.isOver ?? true }
    while readAhead.openViews.count >= Self.greatestViewCount { Self.end(readAhead.openViews.removeFirst()) }
    readAhead.openViews.append(OpenView(view: view))
  }

  /// Ends all views, so that later reads are current.
  func endViews() {
    endLookups()
    if readAhead.openViews.isEmpty { return }
    let views = readAhead.openViews
    readAhead.openViews = []
    for view in views { Self.end(view) }
  }

  private static func end(_ open: OpenView) {
    guard let view = open.view else { return }
    view.walk?.noteRest()
    view.end()
  }
}

extension ManagedObjectContext {
  /// Copies the last remaining rows of sparse pages. Called before rows are read, here or for another context of the
  /// same scripts.
  @inline(__always)
  package func copyRowsOfSparsePages() {
    if !memory.sparsePages.isEmpty { copySparseRows() }
  }

  @inline(never)
  private func copySparseRows() {
    for page in memory.sparsePages.drain() {
      let objects = (0..<page.count).compactMap { place -> ManagedObject? in
        let object = registered[page.id(place)]?.takeUnretainedValue()
        return object.flatMap { $0.row.lies(at: place, in: page) ? $0 : nil }
      }
      if 4 * objects.count > page.count { continue }
      for object in objects where object.snapshot == nil { object.copyOwnRow() }
      let saved = objects.filter { $0.snapshot != nil }
      for object in saved { object.spillRow() }
      for (object, copy) in zip(saved, Snapshot.copies(of: saved.compactMap(\.snapshot))) { object.move(to: copy) }
    }
  }
}

extension ManagedObjectContext {
  /// Up to this number of changes, a lookup tests each changed object.
  private static let fewChanges = 16

  /// The changed objects of some entities that may match a predicate.
  ///
  /// Over-approximates; callers evaluate the predicate again.
  func changedObjects(
    matching predicate: Predicate?, of entity: ResolvedEntity, entities: Range<EntityIndex>
  ) throws -> [ManagedObject] {
    if changedObjects.count > Self.fewChanges, let predicate,
      let condition = try indexedCondition(predicate, of: entity, entities: entities, inRows: false)
    {
      return try changedObjects.makeIndex().objects(condition, in: self)
    }
    return changedObjects.filter { entities.contains($0.entity.index) }
  }

  /// The equality conditions in a predicate that can be looked up by stored values; nil without such a condition.
  ///
  /// Objects also have transient values, and values computed from their own attributes; rows do not.
  func indexedCondition(
    _ predicate: Predicate, of entity: ResolvedEntity, entities: Range<EntityIndex>, inRows: Bool
  ) throws -> IndexedCondition? {
    try IndexedCondition(predicate, entity: entity, entities: entities) { slot in
      if inRows, entity.property(at: slot).isTransient { return false }
      return try entities.allSatisfy { index in
        let behavior = try behavior(of: model.entities[index])
        return behavior.isStoredAsIs(slot) || !inRows && behavior.isOfOwnValues(slot)
      }
    }
  }
}
