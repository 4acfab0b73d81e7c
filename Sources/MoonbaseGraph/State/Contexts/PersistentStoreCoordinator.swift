public import MoonbaseModel
public import MoonbasePlatform

/// Connects contexts with stores: finds the store of an object, and caches rows.
///
/// Contexts on several threads share a coordinator.
///
/// ```swift
/// let coordinator = PersistentStoreCoordinator(model: try model.resolved())
/// try coordinator.add(InMemoryStore(model: coordinator.model))
/// let context = try ManagedObjectContext(coordinator)
/// ```
public final class PersistentStoreCoordinator: Sendable {
  /// The model.
  public let model: ResolvedModel
  /// A name for display.
  public var name: String? {
    get { registry.withLock { $0.name } }
    set { registry.withLock { $0.name = newValue } }
  }

  private struct Registry {
    var stores: [any PersistentStore] = []
    var byNumber: [UInt32: any PersistentStore] = [:]
    var classes: [String: AnyObject.Type] = [:]
    var name: String?
    /// Changes whenever the set of stores changes.
    var revision = 0
    /// The revision of the parent's stores that these stores copy.
    var followedRevision = -1
  }

  private let registry = Lock(Registry())
  /// The number of the process's writes to each store, by store number.
  private static let writings = Lock<[UInt32: Int]>([:])
  /// The extensions that are known to be recorded in the metadata of each store, by store number.
  let notedExtensions = Lock<[UInt32: [String: String]]>([:])
  let rows: RowCache
  private let listeners = NotificationListeners<SavedObjectIDs>()
  /// The attributes that stores derive, by entity.
  let derivedSlots: [EntityIndex: [Slot]]
  /// The parent context's stores, which a coordinator of child contexts follows; nil if stores are added and removed
  /// here.
  let parentStores: (any FollowedStores)?

  /// The meter that counts saves and fetches.
  let meterPlace = Lock<(any GraphMeter)?>(nil)
  /// The error of requests after the stores were closed.
  private let closing = Lock<GraphError?>(nil)

  /// Makes a coordinator without stores.
  public convenience init(model: ResolvedModel) {
    self.init(model: model, rowCapacity: RowCache.usualCapacity, following: nil)
  }

  /// Makes a coordinator for the children of a context. It caches no rows, because the parent may change them at any
  /// time.
  convenience init(following parentStores: any FollowedStores) {
    self.init(model: parentStores.parent.source.model, rowCapacity: 0, following: parentStores)
  }

  private init(model: ResolvedModel, rowCapacity: Int, following parentStores: (any FollowedStores)?) {
    self.model = model
    self.parentStores = parentStores
    rows = RowCache(capacity: rowCapacity)
    let derived = model.entities.map { ($0.index, model.storedDerivations(of: $0).map(\.slot)) }
    derivedSlots = Dictionary(uniqueKeysWithValues: derived.filter { !$0.1.isEmpty })
  }

  /// Makes a coordinator with the stores and classes of another one, but with a row cache of its own.
  public convenience init(sharingStoresOf other: PersistentStoreCoordinator) {
    self.init(model: other.model)
    let shared = other.registry.withLock { $0 }
    registry.withLock { $0 = shared }
  }

  /// The stores, in the order they were added.
  public var persistentStores: [any PersistentStore] {
    followParent()
    return registry.withLock { $0.stores }
  }

  /// Whether relationships could connect objects of different stores.
  var hasSeveralStores: Bool {
    followParent()
    return registry.withLock { $0.stores.count > 1 }
  }

  /// A number that changes whenever the set of stores changes.
  var revision: Int {
    followParent()
    return registry.withLock { $0.revision }
  }

  /// The stores, and a number that changes whenever they do.
  private var numberedStores: (stores: [any PersistentStore], revision: Int) {
    followParent()
    return registry.withLock { ($0.stores, $0.revision) }
  }

  /// Adopts changes of the parent's set of stores.
  @inline(__always)
  private func followParent() {
    if let parentStores { follow(parentStores) }
  }

  /// Copies the parent's stores if they changed.
  private func follow(_ parentStores: any FollowedStores) {
    let (stores, revision) = parentStores.parent.source.numberedStores
    registry.withLock { registry in
      guard registry.followedRevision != revision else { return }
      registry.stores = parentStores.stores(over: stores, known: registry.stores)
      registry.byNumber = [:]
      for store in registry.stores { registry.byNumber[StoreNumber(store.identifier).rawValue] = store }
      registry.followedRevision = revision
      registry.revision += 1
    }
  }

  /// Adds a store. New objects of an entity go to the first writable store that holds the entity.
  ///
  /// Throws `.invalidRequest` if the store, under any path, or a copy of it is already in the coordinator: object IDs
  /// name stores by UUID, and a copy has the UUID of the original. Throws `.containerClosed` after the end of the
  /// container.
  public func add(_ store: any PersistentStore) throws {
    let number = StoreNumber(store.identifier).rawValue
    try registry.withLock {
      // A container closes the stores that it finds after it has set the error.
      if let closingError { throw closingError }
      if let known = $0.byNumber[number] { throw Self.doubled(store, known) }
      $0.stores.append(store)
      $0.byNumber[number] = store
      $0.revision += 1
    }
  }

  /// Removes a store. Its file closes as soon as no session reads from it.
  ///
  /// Objects of the store keep the values that they have read. Operations that need the store throw `.objectNotFound`:
  /// firing a fault, or saving changes of such objects. Reset or release contexts that have such objects before. Throws
  /// `.invalidRequest` for a store that is not in the coordinator.
  public func remove(_ store: any PersistentStore) throws {
    let number = StoreNumber(store.identifier).rawValue
    try registry.withLock { registry in
      guard registry.byNumber[number] === store else { throw Self.absent(store) }
      registry.byNumber[number] = nil
      registry.stores.removeAll { $0 === store }
      registry.revision += 1
    }
    forgetAllRows()
  }

  /// Throws `.invalidRequest` for a store that is not in the coordinator.
  func require(_ store: any PersistentStore) throws {
    let number = StoreNumber(store.identifier).rawValue
    guard registry.withLock({ $0.byNumber[number] === store }) else { throw Self.absent(store) }
  }

  private static func absent(_ store: any PersistentStore) -> GraphError {
    GraphError(.invalidRequest, message: "\(store.name) is not open here: it was removed, or added elsewhere")
  }

  /// Replaces a store by another one. Throws `.invalidRequest` if the store was removed meanwhile.
  func replace(_ store: any PersistentStore, by other: any PersistentStore) throws {
    let numbers = (old: StoreNumber(store.identifier).rawValue, new: StoreNumber(other.identifier).rawValue)
    try registry.withLock { registry in
      guard registry.byNumber[numbers.old] === store else { throw Self.absent(store) }
      if let known = registry.byNumber[numbers.new] { throw Self.doubled(other, known) }
      registry.byNumber[numbers.old] = nil
      registry.byNumber[numbers.new] = other
      registry.stores = registry.stores.map { $0 === store ? other : $0 }
      registry.revision += 1
    }
    forgetAllRows()
  }

  /// The store of a file, under any path; nil if no store of the file is open here.
  public func persistentStore(for url: URL) -> (any PersistentStore)? {
    let identity = FileIdentity(url.relativePath)
    return persistentStores.first { store in
      guard let own = store.url else { return false }
      return own == url || identity != nil && FileIdentity(own.relativePath) == identity
    }
  }

  /// The object ID with a URI from `uriRepresentation`. Nil if the text is no such URI, the store is not open here, or
  /// the model lacks the entity.
  ///
  /// An object is identified by store, table and key. The URI may name the root entity or another entity of the same
  /// table, for example after a migration. If the table holds several entities, the row is read to find the object's
  /// entity. Without a readable row, the ID has the entity that the URI names.
  ///
  /// ```swift
  /// if let id = coordinator.managedObjectID(forURIRepresentation: text) { print(try context.object(with: id)) }
  /// ```
  public func managedObjectID(forURIRepresentation text: String) -> ManagedObjectID? {
    guard let id = ManagedObjectID(uriRepresentation: text), model.entity(of: id) != nil else { return nil }
    return registry.withLock { $0.byNumber[id.storeNumber] } == nil ? nil : (try? known([id])[0]) ?? id
  }

  private static func doubled(_ store: any PersistentStore, _ known: any PersistentStore) -> GraphError {
    guard let path = store.url?.relativePath, let other = known.url?.relativePath else {
      return GraphError(
        .invalidRequest, message: "the store with the UUID \(store.identifier) is here already: add a store once")
    }
    let advice =
      FileIdentity(path) == FileIdentity(other)
      ? "are one file: open it once, with one configuration that has all its entities"
      : "are copies of one store: open each in a container of its own, or give the copy a UUID of its own"
    return GraphError(.invalidRequest, message: "\(path) and \(other), with the UUID \(store.identifier), \(advice)")
  }

  /// Registers a class of objects by name. The objects define what the class means.
  func setClass(_ type: AnyObject.Type, named name: String) { registry.withLock { $0.classes[name] = type } }

  func objectClass(named name: String) -> AnyObject.Type? { registry.withLock { $0.classes[name] } }

  // MARK: Finding stores

  /// The store of a permanent ID.
  package func store(of id: ManagedObjectID) throws -> any PersistentStore {
    try ManagedObjectContext.refuseWithinFunctions("\(id) was asked for")
    followParent()
    let number = id.storeNumber
    if let store = registry.withLock({ $0.byNumber[number] }) { return store }
    throw GraphError(
      .objectNotFound, message: "\(id) belongs to a store that is not open here: open it first", entity: id.entityName,
      objectID: id)
  }

  /// The stores that hold an entity.
  func stores(holding entity: ResolvedEntity) -> [any PersistentStore] {
    persistentStores.filter { store in
      holdsAll(store) || store.entities.contains { $0.root == entity.root && $0.index == entity.index }
    }
  }

  /// The stores that may hold objects of an entity, or of its subentities.
  func stores(for entity: ResolvedEntity, includingSubentities: Bool) -> [any PersistentStore] {
    let wanted = entity.indexes(includingSubentities: includingSubentities)
    return persistentStores.filter { store in
      holdsAll(store) || store.entities.contains { wanted.contains($0.index) }
    }
  }

  /// Whether a store has all entities of the model, which spares a search among thousands.
  private func holdsAll(_ store: any PersistentStore) -> Bool { store.entities.count == model.entities.count }

  /// Groups IDs by store.
  func byStore(_ ids: [ManagedObjectID]) throws -> [(any PersistentStore, [ManagedObjectID])] {
    if let first = ids.first, ids.allSatisfy({ $0.storeNumber == first.storeNumber }) {
      return [(try store(of: first), ids)]
    }
    return try Dictionary(grouping: ids, by: \.storeNumber).values.map { (try store(of: $0[0]), $0) }
  }

  /// The store for new objects of an entity: the first writable store that holds the entity.
  package func storeForNewObjects(of entity: ResolvedEntity) throws -> any PersistentStore {
    try ManagedObjectContext.refuseWithinFunctions("an object of \(entity.name) was to be saved")
    let candidates = stores(holding: entity)
    if let store = candidates.first(where: { !$0.isReadOnly }) { return store }
    guard let store = candidates.first else {
      throw noStore(holding: entity)
    }
    throw GraphError(
      .readOnlyStore, message: "the store of \(entity.name) is read-only: \(store.writingAdvice)", entity: entity.name)
  }

  // MARK: Rows

  /// A row, from the cache if it was read within `seconds` (nil for any age), else from the store.
  func snapshot(of id: ManagedObjectID, within seconds: Double? = nil) throws -> Snapshot? {
    if let known = rows[id], known.page.isFresh(within: seconds) { return known }
    // The coordinator of child contexts reads their parent, which reads the store.
    guard parentStores == nil else { return try currentSnapshot(of: id) }
    return try measuring(.fault, of: id.entityName) { try currentSnapshot(of: id) }
  }

  /// The row of an object that must exist. Throws `.objectNotFound` if there is none.
  func row(of id: ManagedObjectID, in view: ReadView?, within seconds: Double?) throws -> Snapshot {
    try present(snapshot(of: id, in: view, within: seconds), id: id)
  }

  /// A row from a view, or from cache or store without a view.
  func snapshot(of id: ManagedObjectID, in view: ReadView?, within seconds: Double? = nil) throws -> Snapshot? {
    if let view { return try view.snapshot(of: id, within: seconds) }
    return try snapshot(of: id, within: seconds)
  }

  /// The store's current row of an object that must exist. Throws `.objectNotFound` if there is none.
  func currentRow(of id: ManagedObjectID) throws -> Snapshot { try present(currentSnapshot(of: id), id: id) }

  /// The row, or an error that tells why there is none.
  private func present(_ row: Snapshot?, id: ManagedObjectID) throws -> Snapshot {
    if let row { return row }
    let known = (try? known([id])[0]) ?? id
    let reason =
      known == id
      ? "is not in its store (any more): it was deleted elsewhere"
      : "names another entity than its row: the object is \(known); make IDs of texts with managedObjectID(forURIRepresentation:)"
    throw GraphError(.objectNotFound, message: "\(id) \(reason)", entity: id.entityName, objectID: id)
  }

  /// The store's current row; nil if there is none.
  func currentSnapshot(of id: ManagedObjectID) throws -> Snapshot? {
    let store = try store(of: id)
    let found = try rows.reading { try store.snapshot(of: id).map { [$0] } ?? [] }
    if found.isEmpty { rows.remove([id]) }
    return found.first
  }

  /// The stores' current rows; objects without a row are left out.
  func snapshots(of ids: [ManagedObjectID], in view: ReadView? = nil) throws -> [Snapshot] {
    if let view { return try view.snapshots(of: ids) }
    var result: [Snapshot] = []
    for (store, group) in try byStore(ids) {
      result += try rows.reading { try store.snapshots(of: group) }
    }
    return result
  }

  /// Updates cached rows with newer versions that a fetch returned.
  func refreshRows(_ snapshots: some Collection<Snapshot> & Sendable) { rows.replace(snapshots) }

  /// Drops rows that changed without a new version, so that contexts read them again.
  func forgetRows(of ids: [ManagedObjectID]) { rows.remove(ids) }

  /// Drops all cached rows, so that the next access reads from the stores.
  func forgetAllRows() { rows.removeAll() }

  /// The destinations of objects of one store, from a view or from the store's current state.
  func destinations(
    of ids: [ManagedObjectID], relationship slot: Slot, in view: ReadView? = nil
  ) throws -> [[ManagedObjectID]] {
    if let view { return try view.destinations(of: ids, relationship: slot) }
    guard let first = ids.first else { return [] }
    return try store(of: first).destinations(of: ids, relationship: slot)
  }

  /// The rows of these destinations, from a view or from the store's current state.
  func destinationRows(
    of ids: [ManagedObjectID], relationship slot: Slot, in view: ReadView? = nil
  ) throws -> DestinationRows {
    if let view { return try view.destinationRows(of: ids, relationship: slot) }
    guard let first = ids.first else { return DestinationRows() }
    return try store(of: first).destinationRows(of: ids, relationship: slot)
  }

  // MARK: Saving

  /// Writes changes in a session without committing it. Throws the conflicts as one error.
  package func write(_ changes: StoreChanges, in session: any SaveSession) throws {
    try GraphError.throwConflicts(conflicts(writing: changes, in: session))
  }

  /// Writes changes in a session without committing it. Returns the conflicts.
  func conflicts(writing changes: StoreChanges, in session: any SaveSession) throws -> [SaveConflict] {
    let conflicts = try session.writeAll(changes)
    // Contexts that refresh a conflicting object read the stored row.
    rows.remove(conflicts.compactMap(\.otherID))
    return conflicts
  }

  /// The number of the process's writes to these stores, through any coordinator. A changed count shows that rows just
  /// read may be outdated.
  var writingCount: Int {
    let numbers = storeNumbers
    return Self.writings.withLock { writings in numbers.reduce(0) { $0 &+ writings[$1, default: 0] } }
  }

  /// Counts a write to these stores.
  private func noteWriting() {
    let numbers = storeNumbers
    Self.writings.withLock { writings in for number in numbers { writings[number, default: 0] &+= 1 } }
  }

  private var storeNumbers: [UInt32] {
    followParent()
    return registry.withLock { Array($0.byNumber.keys) }
  }

  /// Runs `body`, which commits a save and reports it. Reads that begin meanwhile do not rely on the row cache.
  package func committing<Result>(_ body: () throws -> Result) rethrows -> Result {
    rows.beginCommit()
    defer { rows.endCommit() }
    return try body()
  }

  /// Updates the cache and notifies contexts after a store committed a context's changes, including derived values of
  /// some objects.
  func didSave(
    _ changes: StoreChanges, deriving derived: [ManagedObjectID], from sender: NotificationInbox<SavedObjectIDs>?
  ) {
    noteWriting()
    rows.remove(changes.deleted.map(\.id))
    rows.write(changes.updated.rows)
    rows.remove(derived)
    if !changes.isEmpty { listeners.tell(SavedObjectIDs(changes, deriving: derived), from: sender) }
  }

  /// Updates the cache and notifies contexts after a store itself wrote rows, as for a batch request.
  package func didWrite(_ saved: SavedObjectIDs) {
    noteWriting()
    if !saved.entityNames.isEmpty { rows.outdateAll() }
    rows.remove(saved.updated + saved.deleted)
    listeners.tell(saved)
  }

  /// The saves of this coordinator's contexts from the call on, one element for each store that a save wrote.
  ///
  /// `remoteChanges` has the saves of other processes. Each call returns a new sequence. A sequence ends when the
  /// container is closed or the coordinator is released.
  public var saves: AsyncStream<SavedObjectIDs> { listeners.stream() }

  /// Keeps the error that requests throw from now on, because the stores are closed. False if they were closed before.
  package func close(_ error: GraphError) -> Bool {
    closing.withLock { known in
      defer { known = known ?? error }
      return known == nil
    }
  }

  /// The error of requests after the stores were closed; nil while they are open.
  package var closingError: GraphError? { closing.withLock { $0 } }

  /// The error for an entity that no open store holds.
  func noStore(holding entity: ResolvedEntity) -> GraphError { closingError ?? GraphError.noStore(holding: entity) }

  /// Ends all sequences of saves.
  package func endSaves() { listeners.finish() }

  /// Notifies contexts of changes that were saved outside this coordinator.
  func tell(_ saved: SavedObjectIDs) { listeners.tell(saved) }

  /// Returns a new inbox for later saves of other contexts.
  func addInbox(_ onNews: (@Sendable () -> Void)? = nil) -> NotificationInbox<SavedObjectIDs> {
    let inbox = NotificationInbox<SavedObjectIDs>(onNews)
    listeners.add(inbox)
    return inbox
  }

  /// Drops the rows of changes that were not saved, so that contexts read them again.
  func didNotSave(_ changes: StoreChanges) {
    rows.remove(changes.updated.rows.ids + changes.deleted.map(\.id))
  }
}
