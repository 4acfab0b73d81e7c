public import MoonbaseModel
import MoonbasePlatform

/// What a fetch found: rows that are read some at a time as they are walked, and objects that are made when they are asked for
/// and go again when nobody holds them. So a walk over a million objects takes the memory of a few hundred, and eight bytes for each
/// key.
///
/// ```swift
/// for person in try context.fetchedObjects(FetchRequest("Person", where: "age > 30")) {
///   total += try person.value(forKey: "age").int
/// }
/// ```
///
/// What it found stays as it was, whatever is changed, saved or deleted meanwhile: objects that went since are deleted objects or
/// faults that cannot fire, and `existingObject(at:)` gives nil for them. The batch size of the request is how many rows are read at
/// a time. It belongs to its context and to the context's executor.
///
/// All its rows, what is prefetched with them, and the faults that fire while it is there are of one view of the store: what others save
/// meanwhile does not show. The view ends when this context saves, rolls back, refreshes an object or is reset, or once four newer
/// results are kept; what is read afterwards is current when it is read, which a walk that goes on may do two windows ahead. As long as
/// there is a view, a SQLite file's log keeps growing.
public final class FetchedObjects {
  // Who walks in a script must not keep the context: it has the script.
  private let reference: ContextReference
  private let holder: ManagedObjectContext?
  private let entity: ResolvedEntity
  private let isRefreshing: Bool
  private let keyPaths: [String]
  private let greatestSize: Int

  /// The state of the store that all is read from; nil once what is read is current, and where all is read.
  private var view: ReadView? { didSet { oldValue?.walk = nil } }
  /// The IDs of what was found, as far as it was read.
  @exclusivity(unchecked) private var ids: IDList
  /// The rows that are still to come; nil where all IDs are known.
  private var rest: PageReader?
  /// What the rows that are to come are asked for by.
  private var source: (store: any PersistentStore, query: StoreQuery)?
  /// Why the rows that were still to come did not.
  private var failure: (any Error)?
  private var knownCount: Int?
  /// Rows that were read and may have no objects yet, and the place of the first.
  private var page = RowBatch()
  private var pageStart = 0
  /// What the prefetches of windows share.
  private var prefetched = PrefetchMemory()
  /// How a walk goes on once its view has ended.
  private var following: Following?
  /// Whether another thread may read for it.
  private var mayReadAhead = false
  /// The number of the context's read-ahead for which these rows count.
  private let readAheadNumber: Int
  /// Objects that were not saved yet, by their temporary IDs: a save on the way gives them others.
  private var unsaved: [ManagedObjectID: ManagedObject] = [:]
  /// How many rows are read next. A walk begins with few, for what they weigh is not known.
  private var nextSize: Int
  /// What is held now, and the places it has.
  @exclusivity(unchecked) private var window = 0..<0
  @exclusivity(unchecked) private var objects: ContiguousArray<ManagedObject?> = []
  /// How often the context had been reset when they were read: objects of a time before it are none of the context any more.
  @exclusivity(unchecked) private var windowResets = 0
  /// The bytes that the context was told of.
  private var weighed = 0

  private convenience init(ids: IDList, plan: FetchPlan, holdsContext: Bool, view: ReadView?) {
    self.init(ids: ids, plan.request, of: plan.entity, in: plan.context, holdsContext: holdsContext, view: view)
  }

  private init(
    ids: IDList, _ request: FetchRequest, of entity: ResolvedEntity, in context: ManagedObjectContext,
    holdsContext: Bool, view: ReadView?
  ) {
    reference = context.reference
    holder = holdsContext ? context : nil
    self.entity = entity
    self.ids = ids
    self.view = view
    readAheadNumber = context.readAheadNumber
    isRefreshing = request.shouldRefreshRefetchedObjects
    keyPaths = request.relationshipKeyPathsForPrefetching
    greatestSize = request.fetchBatchSize > 0 ? request.fetchBatchSize : [Snapshot].batchSize
    nextSize = request.fetchBatchSize > 0 ? greatestSize : Self.firstSize
  }

  /// IDs of which it is known that they are found, with what is current when it is read.
  convenience init(ids: IDList, _ request: FetchRequest, of entity: ResolvedEntity, in context: ManagedObjectContext) {
    self.init(ids: ids, request, of: entity, in: context, holdsContext: true, view: nil)
    for id in ids where id.isTemporaryID { unsaved[id] = context.registeredObject(for: id) }
  }

  /// IDs, whose rows are read in the plan's view.
  convenience init(ids: IDList, plan: FetchPlan, holdsContext: Bool) {
    let view = ids.isEmpty || !plan.view.isSteady ? nil : plan.view
    self.init(ids: ids, plan: plan, holdsContext: holdsContext, view: view)
    if plan.hasPending { for id in ids where id.isTemporaryID { unsaved[id] = plan.context.registeredObject(for: id) } }
    beginFollowing(in: plan.context)
  }

  /// All rows, of a store that keeps no view.
  convenience init(rows: [Snapshot], plan: FetchPlan, holdsContext: Bool) {
    self.init(ids: IDList(rows.lazy.map(\.id)), plan: plan, holdsContext: holdsContext, view: nil)
    page = RowBatch(rows)
  }

  /// Rows that come. The first are read now; where these are all, nothing more is needed of the store but what is to be prefetched.
  convenience init(
    _ pages: PageReader, of store: any PersistentStore, _ query: StoreQuery, plan: FetchPlan, holdsContext: Bool
  ) throws {
    self.init(ids: IDList(), plan: plan, holdsContext: holdsContext, view: plan.view)
    (rest, source) = (pages, (store, query))
    try readPage()
    if rest != nil, page.count < greatestSize { try readPage(keeping: true) }
    if rest == nil, keyPaths.isEmpty { view = nil }
    beginFollowing(in: plan.context)
  }

  deinit {
    view?.walk = nil
    // Before the view ends, which waits for who reads in it.
    rest?.stop()
    reference.context?.weigh(-weighed)
  }

  private func beginFollowing(in context: ManagedObjectContext) {
    guard let view else { return }
    view.walk = self
    context.follow(view)
  }

  /// The context of the objects, which it keeps alive.
  public var managedObjectContext: ManagedObjectContext? { reference.context }

  /// How many objects were found. Where rows are still to come, they are counted.
  public var count: Int {
    guard rest != nil || failure != nil else { return ids.count }
    if let knownCount { return knownCount }
    return attempt {
      guard rest != nil, let view, let source else { return ids.count }
      let counted = try view.session(of: source.store).count(matching: source.query)
      knownCount = counted
      return counted
    } ?? ids.count
  }

  /// No fewer than these were found.
  public var underestimatedCount: Int { ids.count }

  /// The IDs of the objects, in their order; of new ones that were saved meanwhile the permanent ones.
  public var objectIDs: [ManagedObjectID] {
    attempt { try readRest() }
    return ids(0..<ids.count)
  }

  /// The bytes that it keeps, by estimate; what it reads later the context weighs.
  package var weight: Int { 1024 + ids.weight + 48 * unsaved.count + page.weight }

  /// Whether there is an object at a place. Throws where the rows up to there cannot be read.
  package func reaches(_ index: Int) throws -> Bool {
    while index >= ids.count {
      if let failure { throw failure }
      guard rest != nil else { return false }
      if index == ids.count { try readPage() } else { try readRest() }
    }
    return true
  }

  /// An object, with its values; nil where it was deleted since, or its row is gone.
  ///
  /// Reads the rows around it if they are not here. Throws what the store throws, and what a prefetch does.
  public func existingObject(at index: Int) throws -> ManagedObject? {
    if !window.contains(index) || reference.resetCount != windowResets { try readWindow(with: index) }
    guard let object = objects[index - window.lowerBound], !object.isDeleted, object.hasContext else { return nil }
    return object
  }

  private func ids(_ range: Range<Int>) -> [ManagedObjectID] {
    unsaved.isEmpty ? Array(ids[range]) : ids[range].map { unsaved[$0]?.objectID ?? $0 }
  }

  /// For what cannot throw: the context keeps the error.
  @discardableResult
  private func attempt<Result>(_ body: () throws -> Result) -> Result? {
    do { return try body() } catch {
      reference.context?.keep(error)
      return nil
    }
  }
}

extension FetchedObjects: RandomAccessCollection {
  /// Goes through the objects as they are read.
  public struct Iterator: IteratorProtocol {
    fileprivate let found: FetchedObjects
    fileprivate var index = 0

    /// The next object. Where rows cannot be read, there is none, and the context keeps the error.
    public mutating func next() -> ManagedObject? {
      guard found.attempt({ try found.reaches(index) }) == true else { return nil }
      defer { index += 1 }
      return found.object(at: index)
    }
  }

  /// Goes through the objects from the first on.
  public func makeIterator() -> Iterator { Iterator(found: self) }

  /// The first place.
  public var startIndex: Int { 0 }
  /// One past the last place.
  public var endIndex: Int { count }

  /// An object. One that was deleted since is a deleted object or a fault whose values cannot be read; so is one whose row could not
  /// be read, and the context keeps the error among its pending ones.
  public subscript(index: Int) -> ManagedObject {
    precondition(index >= 0 && index < count, "\(count) objects were found: there is none at \(index)")
    return object(at: index)
  }

  private func object(at index: Int) -> ManagedObject {
    if window.contains(index), let object = objects[index - window.lowerBound] { return object }
    attempt { if !window.contains(index) { try readWindow(with: index) } }
    if window.contains(index), let object = objects[index - window.lowerBound] { return object }
    guard let holder else { preconditionFailure("a walk of a script asks for existing objects") }
    guard index < ids.count else {
      return holder.fault(ManagedObjectID(store: StoreNumber(""), entity: entity.symbol, key: 0))
    }
    return unsaved[ids[index]] ?? holder.fault(ids[index])
  }
}

// MARK: - Pages

extension FetchedObjects {
  /// Reads the next rows of those that are to come; `keeping` puts them behind those that are here.
  private func readPage(keeping: Bool = false) throws {
    guard let rest, let context = reference.context else { throw goneError }
    let rows = try rest.next(upTo: greatestSize)
    if rows.isEmpty { return endRest() }
    if keeping { page.append(rows) } else { (pageStart, page) = (ids.count, rows) }
    ids.append(rows)
    weigh(in: context)
  }

  /// Reads the IDs of all that is to come: somebody goes elsewhere, or the view ends.
  private func readRest() throws {
    if let failure { throw failure }
    guard let rest, let context = reference.context else { return }
    try context.reading(in: view) { ids.append(contentsOf: try rest.remainingIDs()) }
    endRest()
    weigh(in: context)
  }

  private func endRest() { (rest, source, knownCount) = (nil, nil, nil) }

  private func weigh(in context: ManagedObjectContext) {
    let weight = ids.weight + (rest?.weightAhead ?? following?.pages.weightAhead ?? 0)
    context.weigh(weight - weighed)
    weighed = weight
  }

  /// The view ends: what is still to come is noted, and read by its IDs from then on.
  func noteRest() {
    do { try readRest() } catch {
      let found = count
      failure = error
      (rest, source, knownCount) = (nil, nil, Swift.max(found, ids.count))
    }
    // Where there was a view, who reads is in no writer's way.
    (page, view, mayReadAhead) = ([], nil, true)
  }

  /// Nobody goes on: what is still to come is not looked at, and its view ends.
  package func close() {
    endRest()
    view?.end()
    (page, view, following) = ([], nil, nil)
  }

  private var goneError: GraphError {
    GraphError(.objectNotFound, message: "the context of what was fetched is gone: keep it while you walk")
  }
}

// MARK: - Windows

extension FetchedObjects {
  private static let firstSize = 8
  /// The bytes that the objects of a window are to weigh at most, if they weigh what those before them did.
  static let greatestWeight = 4 << 20
  /// What reading a window costs, were it that all its rows are gone.
  private static let units = 100

  private func readWindow(with index: Int) throws {
    guard let context = reference.context else { throw goneError }
    try HostWork.charge(Self.units)
    guard try reaches(index) else { throw goneError }
    if context.readAheadNumber != readAheadNumber { page = [] }
    let goesOn = index == window.upperBound
    let range = rangeToRead(with: index)
    // Those before are let go first.
    (window, objects) = (0..<0, [])
    let held = try context.reading(in: view) {
      let held = try read(range, goesOn: goesOn, in: context)
      if !keyPaths.isEmpty { try context.prefetch(keyPaths, of: held.compactMap { $0 }, after: &prefetched) }
      return held
    }
    (window, objects, windowResets) = (range, held, context.resetCount)
    // Those of one page weigh the same, but for what is their own.
    let some = stride(from: 0, to: held.count, by: 8)
    let weight = some.reduce(0) { $0 + (held[$1]?.weight ?? 0) } / Swift.max(1, some.underestimatedCount)
    nextSize = Swift.max(1, Swift.min(greatestSize, 8 * range.count, Self.greatestWeight / Swift.max(1, weight)))
  }

  /// Forwards from a place, or backwards where the walk goes so. A leap begins with few again.
  private func rangeToRead(with index: Int) -> Range<Int> {
    if index == window.lowerBound - 1 { return Swift.max(0, index + 1 - nextSize)..<index + 1 }
    if index != window.upperBound { nextSize = Swift.min(greatestSize, Self.firstSize) }
    let end = Swift.min(ids.count, index + nextSize)
    let pageEnd = pageStart + page.count
    return index..<(index >= pageStart && index < pageEnd ? Swift.min(end, pageEnd) : end)
  }

  private func read(
    _ range: Range<Int>, goesOn: Bool, in context: ManagedObjectContext
  ) throws -> ContiguousArray<ManagedObject?> {
    if range.lowerBound >= pageStart, range.upperBound <= pageStart + page.count {
      return try objects(of: page.rows(range.lowerBound - pageStart..<range.upperBound - pageStart), in: context)
    }
    let ids = ids(range)
    if goesOn, rest == nil, view == nil, let rows = try rowsThatFollow(range, ids, in: context) {
      let loaded = try objects(of: rows, in: context)
      return rows.lazy.map(\.id).elementsEqual(ids) ? loaded : present(ids, holding: loaded, in: context)
    }
    let loaded = try context.loadObjects(with: ids)
    return loaded.count == ids.count ? ContiguousArray(loaded) : present(ids, holding: loaded, in: context)
  }

  private func objects(
    of rows: RowBatch, in context: ManagedObjectContext
  ) throws -> ContiguousArray<ManagedObject?> {
    var objects: ContiguousArray<ManagedObject?> = []
    objects.reserveCapacity(rows.count)
    try context.forEachObject(for: rows, refreshing: isRefreshing) { objects.append($0) }
    return objects
  }

  /// The objects of IDs that have their rows, each at its place. Only `loaded` may hold them yet.
  private func present(
    _ ids: [ManagedObjectID], holding loaded: some Sequence, in context: ManagedObjectContext
  ) -> ContiguousArray<ManagedObject?> {
    withExtendedLifetime(loaded) {
      ContiguousArray(ids.map { context.registeredObject(for: $0).flatMap { $0.needsRow ? nil : $0 } })
    }
  }
}

// MARK: - After the view

extension FetchedObjects {
  /// What is read by keys, window by window.
  private struct Following {
    let pages: PageReader
    /// The windows' size.
    let size: Int
    /// The place that comes next.
    var position: Int
    /// The number of the context's read-ahead for which its rows count.
    let number: Int
  }

  /// The rows of a window that follows the one before it, in any order; nil where they are to be asked for object by object.
  private func rowsThatFollow(
    _ range: Range<Int>, _ ids: [ManagedObjectID], in context: ManagedObjectContext
  ) throws -> RowBatch? {
    guard unsaved.isEmpty else { return nil }
    // Rows that are on their way to the store are not read before they are there.
    context.settle(before: ids)
    let isLast = range.upperBound == self.ids.count
    if let following, following.position == range.lowerBound, following.number == context.readAheadNumber,
      following.size == range.count || isLast && following.size > range.count
    {
      self.following?.position = range.upperBound
      let rows = try following.pages.next(upTo: following.size)
      weigh(in: context)
      return rows
    }
    let rows = KeyedRows(self.ids, from: range.lowerBound, in: context.source)
    let pages = PageReader(rows, mayReadAhead: mayReadAhead && context.parent == nil)
    following = nil
    let first = try pages.next(upTo: range.count)
    following = Following(pages: pages, size: range.count, position: range.upperBound, number: context.readAheadNumber)
    return first
  }
}

extension ManagedObjectContext {
  /// What a request finds, to be read as it is walked: rows some at a time, objects on access.
  ///
  /// A request without property values (`includesPropertyValues`) gives the keys now, and rows by their keys as they are walked.
  ///
  /// Throws as `fetch` does.
  public func fetchedObjects(_ request: FetchRequest) throws -> FetchedObjects {
    try FetchPlan(request, in: self, isKept: true).results(readsKeys: !request.includesPropertyValues)
  }

  /// The same for a walk that does not keep the context, and asks for existing objects only.
  package func walk(_ request: FetchRequest) throws -> FetchedObjects {
    try FetchPlan(request, in: self, isKept: true).results(holdsContext: false)
  }

  /// The object of an ID, made as a fault if it is not registered, whatever is wrong with its entity: then its values cannot be read.
  func fault(_ id: ManagedObjectID) -> ManagedObject {
    if let known = registeredObject(for: id) { return known }
    let entity = model.entity(of: id) ?? model.entities[0]
    let type = coordinator.objectClass(of: entity)
    let table = table(of: id.kind, entity: entity)
    return type.init(ManagedObject.ContextPlace(table: table, key: id.key, state: .fault))
  }
}
