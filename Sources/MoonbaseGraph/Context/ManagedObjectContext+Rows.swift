public import MoonbaseModel
public import MoonbasePlatform

/// Giving objects the rows that stores return.
extension ManagedObjectContext {
  /// The object of a row that was just read. A registered object with changes keeps them; a fault takes the row. Throws
  /// for a row of an unknown entity.
  func object(for snapshot: Snapshot) throws -> ManagedObject {
    let object = try object(with: snapshot.id)
    object.adoptRow(snapshot)
    return object
  }

  /// The objects of rows that were read. With `refreshing`, objects with older values take the new ones, with unsaved
  /// changes on top. Throws the first error of an awake hook.
  package func objects(for rows: RowBatch, refreshing: Bool = false) throws -> [ManagedObject] {
    try adoptVersions(of: rows, refreshing: refreshing)
    return try objects(forRowsAhead: rows)
  }

  /// Passes the objects of rows that were read to `body`, one by one. `body` must not change the context.
  @inline(__always)
  func forEachObject(
    for rows: RowBatch, refreshing: Bool = false, _ body: (ManagedObject) -> Void
  ) throws {
    try adoptVersions(of: rows, refreshing: refreshing)
    try forEachObject(forRowsAhead: rows, body)
  }

  /// Updates the row cache, read lists and, with `refreshing`, objects by rows that were read. A row of an older
  /// version than the object's is ignored.
  private func adoptVersions(of rows: RowBatch, refreshing: Bool) throws {
    copyRowsOfSparsePages()
    source.refreshRows(rows)
    try tellLists(of: rows)
    guard refreshing else { return }
    var renewed: [ManagedObject] = []
    for row in rows {
      guard let known = registered[row.id]?.takeUnretainedValue() else { continue }
      // Rows of a view may be older than the object's row.
      guard known.snapshot.map({ $0.version <= row.version }) ?? true else { continue }
      if !known.isFault, known.snapshot.map({ $0.version < row.version }) ?? false { renewed.append(known) }
      known.adopt(row)
    }
    let failures = renewed.lazy.flatMap { $0.failuresOfAwaking(from: .refresh) }
    if let first = Array(failures).first { throw first }
  }

  /// The objects of rows that were read ahead and are still current. Rows of registered objects with changes are not
  /// taken.
  func objects(forRowsAhead rows: RowBatch) throws -> [ManagedObject] {
    var result: [ManagedObject] = []
    result.reserveCapacity(rows.count)
    try forEachObject(forRowsAhead: rows) { result.append($0) }
    return result
  }

  /// Charges the memory of all objects before the first is made.
  @inline(__always)
  private func forEachObject(forRowsAhead rows: RowBatch, _ body: (ManagedObject) -> Void) throws {
    copyRowsOfSparsePages()
    try HostMemory.require(rows.count &* ManagedObject.ownWeight)
    // The list holds a row until it is counted as its object's.
    var memory = HostMemory()
    try memory.hold(rows.weight)
    for stretch in rows.stretches {
      try HostWork.charge(stretch.places.count)
      try makeObjects(of: stretch.places, in: stretch.page, body)
      memory.release(stretch.page.rowWeight &* stretch.places.count)
    }
  }

  /// Makes the objects of rows of one page, which share table, class and weight. Objects are weighed together at the
  /// end.
  @inline(__always)
  private func makeObjects(
    of places: Range<Int>, in page: RowPage, _ body: (ManagedObject) -> Void
  ) throws {
    let table = try table(of: page.kind, entity: entity(of: page.id(0)))
    let type = try objectClass(of: table)
    let isWatching = derivations.isWatching
    var made = 0
    defer { weigh(made &* (ManagedObject.ownWeight &+ page.rowWeight)) }
    for place in places {
      let key = page.key(place)
      if let known = table._withUnsafeGuaranteedRef({ $0.map.object(key, of: table) })?.takeUnretainedValue() {
        known.adoptRow(Snapshot(unchecked: page, at: place))
        body(known)
        continue
      }
      let object = type.init(ManagedObject.InitializationToken(table: table, key: key, state: .fault))
      if object.begin(with: page, at: place) {
        made &+= 1
        if isWatching { invalidateOutdated(ofRow: Snapshot(unchecked: page, at: place), object) }
      } else {
        object.beginWeighing()
        object.adoptRow(Snapshot(unchecked: page, at: place))
      }
      body(object)
    }
  }

  /// The objects with some IDs in their order, with rows read in batches. Missing objects are left out. Unlike
  /// `objects(with:)`, all values are read now. Throws errors of the store.
  public func loadObjects(with ids: [ManagedObjectID]) throws -> [ManagedObject] {
    waitForPendingSave(before: ids)
    copyRowsOfSparsePages()
    let missing = ids.filter { !$0.isTemporaryID && registered[$0].map { $0.takeUnretainedValue().needsRow } ?? true }
    let loaded = try source.snapshots(of: missing, in: view).map(object(for:))
    // `loaded` may be the only reference to the objects.
    return withExtendedLifetime(loaded) { ids.compactMap { registeredObject(for: $0) }.filter { !$0.needsRow } }
  }

  /// The number of rows that are read together into the row cache. Bounds the memory of one request.
  private static let pageSize = 4096

  /// Reads missing rows into the row cache and into the faults that need them. At most `pageSize` rows per request.
  /// Throws errors of the store.
  func loadRows(of ids: [ManagedObjectID]) throws {
    waitForPendingSave(before: ids)
    copyRowsOfSparsePages()
    let missing = ids.filter { id in
      !id.isTemporaryID && registered[id].map { $0.takeUnretainedValue().snapshot == nil } ?? true
    }
    for start in stride(from: 0, to: missing.count, by: Self.pageSize) {
      let page = Array(missing[start..<min(start + Self.pageSize, missing.count)])
      let snapshots = try measuring(.fault, of: page[0].entityName) { try source.snapshots(of: page, in: view) }
      for snapshot in snapshots {
        registered[snapshot.id]?.takeUnretainedValue().adoptRow(snapshot)
      }
    }
  }

  /// The destinations of an object as its store has them. Empty for a new object. Prefetched destinations are used if
  /// there are some.
  func storedDestinations(of object: ManagedObject, slot: Slot) throws -> [ManagedObjectID] {
    guard !object.objectID.isTemporaryID, !object.entity.properties[slot].isTransient else { return [] }
    if let ids = readAhead.prefetched[PrefetchKey(id: object.objectID, slot: slot)] { return ids }
    return try source.destinations(of: [object.objectID], relationship: slot, in: view)[0]
  }
}

/// Idle contexts.
extension ManagedObjectContext {
  /// Whether no operation of the context is in progress.
  var isQuiet: Bool {
    running.phase == nil && running.hookDepth == 0 && running.accessorDepth == 0 && readAhead.pinnedView == nil
      && journal.isSettled
  }
}

/// The source of child contexts.
extension ManagedObjectContext {
  /// The coordinator for child contexts, shared by all of them so that each merges the others' saves.
  ///
  /// Its stores are the parent's current stores.
  func makeSourceOfChildren() -> PersistentStoreCoordinator {
    if let known = lifetime.sourceOfChildren { return known }
    let new = PersistentStoreCoordinator(following: ParentStores(self))
    lifetime.sourceOfChildren = new
    return new
  }
}

/// Fetching in the background for a context of the view.
extension ManagedObjectContext {
  /// The objects that match a request, fetched by a background context of the same coordinator while this context's
  /// executor stays free.
  ///
  /// The objects are faults, whose rows are in the row cache for a while. Unsaved changes of this context do not count:
  /// the background context fetches saved rows. Throws as `BackgroundContext.fetchIDs(_:progress:)` does.
  public func fetch(
    _ request: FetchRequest, with background: BackgroundContext, progress: Progress? = nil
  ) async throws -> [ManagedObject] {
    try objects(with: await background.fetchIDs(request, progress: progress))
  }
}
