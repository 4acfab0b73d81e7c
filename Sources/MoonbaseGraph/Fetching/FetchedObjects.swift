public import MoonbaseModel
import MoonbasePlatform

/// The result of a fetch as a collection: rows are read in batches during iteration, and objects are created on access
/// and released when no other reference retains them. An iteration over a million objects takes the memory of a few
/// hundred, and eight bytes for each key.
///
/// ```swift
/// for person in try context.fetchedObjects(FetchRequest("Person", where: "age > 30")) {
///   total += try person.value(forKey: "age").int
/// }
/// ```
///
/// The result stays the same, whatever is changed, saved or deleted meanwhile: objects deleted since are deleted
/// objects or faults that cannot fire, and `existingObject(at:)` returns nil for them. The batch size of the request is
/// the number of rows that are read at a time. The collection is confined to its context and the context's executor.
///
/// All rows, prefetched rows and faults that fire meanwhile are read from one view of the store, so saves of other
/// contexts are not visible. The view ends when this context saves, rolls back, refreshes an object or is reset, or
/// when four newer results are kept. Later reads see the current state, possibly up to two batches ahead of the
/// iteration. While a view exists, the log of a SQLite file keeps growing.
public final class FetchedObjects: ViewedWalk {
  // A walk in a script must not retain the context, which itself retains the script.
  private let reference: ContextReference
  /// Nil for a walk of a script.
  private let holder: ManagedObjectContext?
  /// The entity of the request.
  private let entity: ResolvedEntity
  /// Whether registered objects take newer rows.
  private let isRefreshing: Bool
  /// The relationships to prefetch.
  private let keyPaths: [String]
  /// The greatest number of rows of a batch.
  private let greatestSize: Int

  /// The view for all reads; nil if reads use the current state, or if everything has been read.
  private var view: ReadView? { didSet { oldValue?.walk = nil } }
  /// The IDs of the result, as far as they are read.
  @exclusivity(unchecked) private var ids: IDList
  /// The remaining rows; nil if all IDs are known.
  private var rest: PageReader?
  /// The query for the remaining rows.
  private var source: (store: any PersistentStore, query: StoreQuery)?
  /// The error that prevented reading the remaining rows.
  private var failure: (any Error)?
  /// The result of the count query.
  private var knownCount: Int?
  /// Rows that were read and may have no objects yet, and the index of the first.
  private var page = RowBatch()
  /// The index of the first row of `page`.
  private var pageStart = 0
  /// The memory shared by the prefetches of all windows.
  private var prefetched = PrefetchMemory()
  /// The continuation by keys after the view has ended.
  private var following: Following?
  /// Whether another thread may read ahead.
  private var mayReadAhead = false
  /// The context's read-ahead number for which the rows of `page` are valid.
  private let readAheadNumber: Int
  /// Unsaved objects by temporary ID, since a save in between replaces these IDs.
  private var unsaved: [ManagedObjectID: ManagedObject] = [:]
  /// The number of rows to read next. The first batch is small, because the size of rows is not known yet.
  private var nextSize: Int
  /// The range of loaded objects.
  @exclusivity(unchecked) private var window = 0..<0
  /// The objects of `window`; nil for rows that are gone.
  @exclusivity(unchecked) private var objects: ContiguousArray<ManagedObject?> = []
  /// The context's reset count when the objects were read: objects from before a reset do not belong to the context any
  /// more.
  @exclusivity(unchecked) private var windowResets = 0
  /// The bytes that are charged to the context.
  private var weighed = 0

  /// For a plan.
  private convenience init(ids: IDList, plan: FetchPlan, holdsContext: Bool, view: ReadView?) {
    self.init(ids: ids, plan.request, of: plan.entity, in: plan.context, holdsContext: holdsContext, view: view)
  }

  /// Nothing is read yet.
  private init(
    ids: IDList, _ request: FetchRequest, of entity: ResolvedEntity, in context: ManagedObjectContext,
    holdsContext: Bool, view: ReadView?
  ) {
    reference = context.reference
    holder = holdsContext ? context : nil
    self.entity = entity
    self.ids = ids
    self.view = view
    readAheadNumber = context.readAhead.number
    isRefreshing = request.shouldRefreshRefetchedObjects
    keyPaths = request.relationshipKeyPathsForPrefetching
    greatestSize = request.fetchBatchSize > 0 ? request.fetchBatchSize : [Snapshot].batchSize
    nextSize = request.fetchBatchSize > 0 ? greatestSize : Self.firstSize
  }

  /// Makes a collection of known IDs whose rows are read in their current state. Collections whose rows are read
  /// completely need not follow.
  package convenience init(
    ids: IDList, _ request: FetchRequest, of entity: ResolvedEntity, in context: ManagedObjectContext
  ) {
    self.init(ids: ids, request, of: entity, in: context, holdsContext: true, view: nil)
    for id in ids where id.isTemporaryID { unsaved[id] = context.registeredObject(for: id) }
  }

  /// Makes a collection of IDs whose rows are read in the plan's view.
  convenience init(ids: IDList, plan: FetchPlan, holdsContext: Bool) {
    let view = ids.isEmpty || !plan.view.canBeHeldOpen ? nil : plan.view
    self.init(ids: ids, plan: plan, holdsContext: holdsContext, view: view)
    if plan.hasPending { for id in ids where id.isTemporaryID { unsaved[id] = plan.context.registeredObject(for: id) } }
    beginFollowing(in: plan.context)
  }

  /// Makes a collection of rows, for a store that keeps no view.
  convenience init(rows: [Snapshot], plan: FetchPlan, holdsContext: Bool) {
    self.init(ids: IDList(rows.lazy.map(\.id)), plan: plan, holdsContext: holdsContext, view: nil)
    page = RowBatch(rows)
  }

  /// Makes a collection of a cursor's rows. The first rows are read now; if these are all and nothing is to be
  /// prefetched, the view ends.
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
    // Before the view ends, which would wait for the thread that reads ahead.
    rest?.stop()
    reference.context?.weigh(-weighed)
  }

  /// Registers with the context, which ends the view when the context changes.
  private func beginFollowing(in context: ManagedObjectContext) {
    guard let view else { return }
    view.walk = self
    context.follow(view)
  }

  /// The context of the objects, which the collection retains. Nil for a walk of a script whose context is gone.
  public var managedObjectContext: ManagedObjectContext? { reference.context }

  /// The number of objects. If rows remain to be read, a count query is run. An error of the query is kept by the
  /// context.
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

  /// A lower bound of the number of objects. Nothing is read.
  public var underestimatedCount: Int { ids.count }

  /// The IDs of the objects in order; for new objects that were saved meanwhile, the permanent IDs. Reads the remaining
  /// IDs.
  public var objectIDs: [ManagedObjectID] {
    attempt { try readRest() }
    return ids(0..<ids.count)
  }

  /// The estimated bytes of the collection, without later reads, which the context charges itself.
  package var weight: Int { 1024 + ids.weight + 48 * unsaved.count + page.weight }

  /// Whether there is an object at an index. Throws if the rows up to the index cannot be read.
  package func reaches(_ index: Int) throws -> Bool {
    while index >= ids.count {
      if let failure { throw failure }
      guard rest != nil else { return false }
      if index == ids.count { try readPage() } else { try readRest() }
    }
    return true
  }

  /// The object at an index with its values; nil if it was deleted since, or its row is gone.
  ///
  /// Reads the surrounding rows if necessary. Throws the errors of the store and of prefetching.
  public func existingObject(at index: Int) throws -> ManagedObject? {
    if !window.contains(index) || reference.resetCount != windowResets { try readWindow(with: index) }
    guard let object = objects[index - window.lowerBound], !object.isDeleted, object.hasContext else { return nil }
    return object
  }

  /// Permanent IDs replace temporary ones.
  private func ids(_ range: Range<Int>) -> [ManagedObjectID] {
    unsaved.isEmpty ? Array(ids[range]) : ids[range].map { unsaved[$0]?.objectID ?? $0 }
  }

  /// Runs `body` for callers that cannot throw: the context keeps the error.
  @discardableResult
  private func attempt<Result>(_ body: () throws -> Result) -> Result? {
    do { return try body() } catch {
      reference.context?.keep(error)
      return nil
    }
  }
}

/// Indexes begin with 0. Accessing an index reads a window of rows around it; forward and backward iterations are
/// equally fast.
extension FetchedObjects: RandomAccessCollection {
  /// Iterates over the objects as they are read.
  ///
  /// Reads no more rows than needed. Several iterators over a collection share its window.
  public struct Iterator: IteratorProtocol {
    /// The collection, which is retained.
    fileprivate let found: FetchedObjects
    /// The index of the next object.
    fileprivate var index = 0

    /// The next object. If rows cannot be read, the iteration ends and the context keeps the error.
    public mutating func next() -> ManagedObject? {
      guard found.attempt({ try found.reaches(index) }) == true else { return nil }
      defer { index += 1 }
      return found.object(at: index)
    }
  }

  /// Iterates over the objects in order.
  public func makeIterator() -> Iterator { Iterator(found: self) }

  /// The first place.
  public var startIndex: Int { 0 }
  /// The place after the last object.
  public var endIndex: Int { count }

  /// The object at an index. If it was deleted since, the result is a deleted object or a fault whose values cannot be
  /// read. If a row could not be read, the result is such a fault, and the context keeps the error in its pending
  /// errors.
  public subscript(index: Int) -> ManagedObject {
    precondition(index >= 0 && index < count, "\(count) objects were found: there is none at \(index)")
    return object(at: index)
  }

  /// The object at an index: loaded, read now, or a fault if it cannot be read.
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

/// Reading rows from the cursor.
extension FetchedObjects {
  /// Reads the next remaining rows; with `keeping`, adds them to the current page.
  private func readPage(keeping: Bool = false) throws {
    guard let rest, let context = reference.context else { throw detachedError }
    let rows = try rest.next(upTo: greatestSize)
    if rows.isEmpty { return endRest() }
    if keeping { page.append(rows) } else { (pageStart, page) = (ids.count, rows) }
    ids.append(rows)
    weigh(in: context)
  }

  /// Reads the remaining IDs, for access to a distant index or before the view ends. The walk continues by keys
  /// afterwards.
  private func readRest() throws {
    if let failure { throw failure }
    guard let rest, let context = reference.context else { return }
    try context.reading(in: view) { ids.append(contentsOf: try rest.remainingIDs()) }
    endRest()
    weigh(in: context)
  }

  /// Drops the cursor.
  private func endRest() { (rest, source, knownCount) = (nil, nil, nil) }

  /// Charges the context for the change of the collection's memory.
  private func weigh(in context: ManagedObjectContext) {
    let weight = ids.weight + (rest?.weightAhead ?? following?.pages.weightAhead ?? 0)
    context.weigh(weight - weighed)
    weighed = weight
  }

  /// Prepares for the end of the view: reads the remaining IDs, by which rows are read from then on.
  func noteRest() {
    do { try readRest() } catch {
      let found = count
      failure = error
      (rest, source, knownCount) = (nil, nil, Swift.max(found, ids.count))
    }
    // The view could be held open, so reading ahead in this store blocks no writer.
    (page, view, mayReadAhead) = ([], nil, true)
  }

  /// Ends the walk: remaining rows are not read, and the view ends. Accessed objects stay valid.
  package func close() {
    endRest()
    view?.end()
    (page, view, following) = ([], nil, nil)
  }

  /// The code is `.objectNotFound`.
  private var detachedError: GraphError {
    GraphError(.objectNotFound, message: "the context of what was fetched is gone: keep it while you walk")
  }
}

// MARK: - Windows

/// The window of loaded objects.
extension FetchedObjects {
  /// The number of rows of the first window.
  private static let firstSize = 8
  /// The greatest number of bytes of a window's objects, estimated from the previous window.
  static let greatestWeight = 4 << 20
  /// The units charged for a window, even if all its rows are gone.
  private static let units = 100

  /// Reads the window around an index. The sizes of windows grow with the iteration, up to the batch size or to
  /// `greatestWeight`.
  private func readWindow(with index: Int) throws {
    guard let context = reference.context else { throw detachedError }
    try HostWork.charge(Self.units)
    guard try reaches(index) else { throw detachedError }
    if context.readAhead.number != readAheadNumber { page = [] }
    let goesOn = index == window.upperBound
    let range = rangeToRead(with: index)
    // Releases the previous window first.
    (window, objects) = (0..<0, [])
    let held = try context.reading(in: view) {
      let held = try read(range, goesOn: goesOn, in: context)
      if !keyPaths.isEmpty { try context.prefetch(keyPaths, of: held.compactMap { $0 }, after: &prefetched) }
      return held
    }
    (window, objects, windowResets) = (range, held, context.counters.resetCount)
    // Objects of one page have the same weight, apart from own values, so a sample suffices.
    let some = stride(from: 0, to: held.count, by: 8)
    let weight = some.reduce(0) { $0 + (held[$1]?.weight ?? 0) } / Swift.max(1, some.underestimatedCount)
    nextSize = Swift.max(1, Swift.min(greatestSize, 8 * range.count, Self.greatestWeight / Swift.max(1, weight)))
  }

  /// The range to read: forwards from an index, or backwards if the access goes backwards. A jump begins with a small
  /// range again. `nextSize` is the greatest length.
  private func rangeToRead(with index: Int) -> Range<Int> {
    if index == window.lowerBound - 1 { return Swift.max(0, index + 1 - nextSize)..<index + 1 }
    if index != window.upperBound { nextSize = Swift.min(greatestSize, Self.firstSize) }
    let end = Swift.min(ids.count, index + nextSize)
    let pageEnd = pageStart + page.count
    return index..<(index >= pageStart && index < pageEnd ? Swift.min(end, pageEnd) : end)
  }

  /// The objects of a range, from the current page or read by key; nil for objects whose rows are gone. Missing rows
  /// give nil at their place.
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

  /// Creates the objects of rows. Registered objects are used again.
  private func objects(
    of rows: RowBatch, in context: ManagedObjectContext
  ) throws -> ContiguousArray<ManagedObject?> {
    var objects: ContiguousArray<ManagedObject?> = []
    objects.reserveCapacity(rows.count)
    try context.forEachObject(for: rows, refreshing: isRefreshing) { objects.append($0) }
    return objects
  }

  /// The objects of IDs that have rows, each at its index. Objects may be retained only by `loaded` so far.
  private func present(
    _ ids: [ManagedObjectID], holding loaded: some Sequence, in context: ManagedObjectContext
  ) -> ContiguousArray<ManagedObject?> {
    withExtendedLifetime(loaded) {
      ContiguousArray(ids.map { context.registeredObject(for: $0).flatMap { $0.needsRow ? nil : $0 } })
    }
  }
}

// MARK: - After the view

/// The walk after its view has ended, by keys.
extension FetchedObjects {
  /// Reads the rows of known keys, window by window.
  private struct Following {
    /// Reads ahead, if allowed.
    let pages: PageReader
    /// The size of the windows.
    let size: Int
    /// The index of the next window.
    var position: Int
    /// The context's read-ahead number for which the rows are valid.
    let number: Int
  }

  /// The rows of a window that follows the previous one, in any order; nil if rows must be read object by object. A
  /// window of another size or place begins anew.
  private func rowsThatFollow(
    _ range: Range<Int>, _ ids: [ManagedObjectID], in context: ManagedObjectContext
  ) throws -> RowBatch? {
    guard unsaved.isEmpty else { return nil }
    // Waits for rows that a save in progress is still writing.
    context.waitForPendingSave(before: ids)
    let isLast = range.upperBound == self.ids.count
    if let following, following.position == range.lowerBound, following.number == context.readAhead.number,
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
    following = Following(pages: pages, size: range.count, position: range.upperBound, number: context.readAhead.number)
    return first
  }
}
