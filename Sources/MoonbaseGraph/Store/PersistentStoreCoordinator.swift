public import MoonbaseModel
public import MoonbasePlatform

/// Brings contexts and stores together: knows which store an object is in, and keeps rows that were read.
///
/// Shared by contexts on several threads.
///
/// ```swift
/// let coordinator = PersistentStoreCoordinator(model: try model.resolved())
/// try coordinator.add(InMemoryStore(model: coordinator.model))
/// let context = try ManagedObjectContext(coordinator)
/// ```
public final class PersistentStoreCoordinator: Sendable {
  /// The model.
  public let model: ResolvedModel
  /// A name for people.
  public var name: String? {
    get { registry.withLock { $0.name } }
    set { registry.withLock { $0.name = newValue } }
  }

  private struct Registry {
    var stores: [any PersistentStore] = []
    var byNumber: [UInt32: any PersistentStore] = [:]
    var classes: [String: AnyObject.Type] = [:]
    var name: String?
    /// Another number each time that the stores are others.
    var revision = 0
    /// The number of the stores that these follow.
    var followedRevision = -1
  }

  private let registry = Lock(Registry())
  /// How often the process wrote to stores, by their numbers.
  private static let writings = Lock<[UInt32: Int]>([:])
  /// The extensions that stores are known to have noted, by their numbers.
  let notedExtensions = Lock<[UInt32: [String: String]]>([:])
  let rows: RowCache
  private let listeners = NewsListeners<SavedObjectIDs>()
  /// The attributes that stores derive, by entity.
  let derivedSlots: [EntityIndex: [Slot]]
  /// What the stores follow: those of a context whose children draw on this; nil where they are added and removed here.
  let parentStores: ParentStores?

  /// The meter that counts saves and fetches.
  let meterPlace = Lock<(any GraphMeter)?>(nil)

  /// Makes a coordinator without stores.
  public convenience init(model: ResolvedModel) {
    self.init(model: model, rowCapacity: RowCache.usualCapacity, following: nil)
  }

  /// Makes one for the children of a context. It keeps no rows, for these may be others at any time.
  convenience init(following parentStores: ParentStores) {
    self.init(model: parentStores.parent.source.model, rowCapacity: 0, following: parentStores)
  }

  private init(model: ResolvedModel, rowCapacity: Int, following parentStores: ParentStores?) {
    self.model = model
    self.parentStores = parentStores
    rows = RowCache(capacity: rowCapacity)
    let derived = model.entities.map { ($0.index, model.storedDerivations(of: $0).map(\.slot)) }
    derivedSlots = Dictionary(uniqueKeysWithValues: derived.filter { !$0.1.isEmpty })
  }

  /// Makes a coordinator with the stores and classes of another one but a row cache of its own.
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

  /// Whether relationships could lead from one store to another.
  var hasSeveralStores: Bool {
    followParent()
    return registry.withLock { $0.stores.count > 1 }
  }

  /// A number that is another one whenever the stores are others.
  var revision: Int {
    followParent()
    return registry.withLock { $0.revision }
  }

  /// The stores, and a number that is another one whenever they are.
  private var numberedStores: (stores: [any PersistentStore], revision: Int) {
    followParent()
    return registry.withLock { ($0.stores, $0.revision) }
  }

  /// The parent's stores may have become others.
  @inline(__always)
  private func followParent() {
    if let parentStores { follow(parentStores) }
  }

  private func follow(_ parentStores: ParentStores) {
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
  /// Throws `.invalidRequest` for a store that is here already, by whichever path, and for a copy of one: IDs of objects name stores
  /// by their UUIDs, and a copy has that of the original.
  public func add(_ store: any PersistentStore) throws {
    let number = StoreNumber(store.identifier).rawValue
    try registry.withLock {
      if let known = $0.byNumber[number] { throw Self.doubled(store, known) }
      $0.stores.append(store)
      $0.byNumber[number] = store
      $0.revision += 1
    }
  }

  /// Takes a store out, which closes its file once nobody reads from it any more.
  ///
  /// Objects of it keep what they read. Whatever needs the store throws `.objectNotFound`: a fault that is fired, a save with changes of such
  /// objects. Reset the contexts that have any, or let go of them, before.
  /// Throws `.invalidRequest` for a store that is not here.
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

  /// Throws for a store that is not here.
  func require(_ store: any PersistentStore) throws {
    let number = StoreNumber(store.identifier).rawValue
    guard registry.withLock({ $0.byNumber[number] === store }) else { throw Self.absent(store) }
  }

  private static func absent(_ store: any PersistentStore) -> GraphError {
    GraphError(.invalidRequest, message: "\(store.name) is not open here: it was removed, or added elsewhere")
  }

  /// Another store takes the place of one. Throws where that was removed meanwhile.
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

  /// The store whose file this is, by whichever path; nil where none is open here.
  public func persistentStore(for url: URL) -> (any PersistentStore)? {
    let identity = FileIdentity(url.relativePath)
    return persistentStores.first { store in
      guard let own = store.url else { return false }
      return own == url || identity != nil && FileIdentity(own.relativePath) == identity
    }
  }

  /// The ID that `uriRepresentation` wrote; nil where the text is none, and where the ID is of a store that is not open here or of an entity
  /// that the model has not.
  ///
  /// An object is known by store, table and key. A text may name its root entity or another one with the same table, as an old one does after
  /// a migration: the row says of which entity the object is, and is looked at where the table has objects of several. Where there is no row, or
  /// it cannot be read now, the ID is of the entity that the text names.
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

  /// Classes of objects by name. What they are is the objects' own matter.
  func setClass(_ type: AnyObject.Type, named name: String) { registry.withLock { $0.classes[name] = type } }

  func objectClass(named name: String) -> AnyObject.Type? { registry.withLock { $0.classes[name] } }

  // MARK: Finding stores

  /// The store of a permanent ID.
  func store(of id: ManagedObjectID) throws -> any PersistentStore {
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

  /// The stores that may hold objects of an entity or of its subentities.
  func stores(for entity: ResolvedEntity, includingSubentities: Bool) -> [any PersistentStore] {
    let wanted = entity.indexes(includingSubentities: includingSubentities)
    return persistentStores.filter { store in
      holdsAll(store) || store.entities.contains { wanted.contains($0.index) }
    }
  }

  /// Whether a store has all entities of the model, so that no search among thousands is needed.
  private func holdsAll(_ store: any PersistentStore) -> Bool { store.entities.count == model.entities.count }

  /// IDs by the store they are in.
  func byStore(_ ids: [ManagedObjectID]) throws -> [(any PersistentStore, [ManagedObjectID])] {
    if let first = ids.first, ids.allSatisfy({ $0.storeNumber == first.storeNumber }) {
      return [(try store(of: first), ids)]
    }
    return try Dictionary(grouping: ids, by: \.storeNumber).values.map { (try store(of: $0[0]), $0) }
  }

  /// The store for new objects of an entity.
  package func storeForNewObjects(of entity: ResolvedEntity) throws -> any PersistentStore {
    try ManagedObjectContext.refuseWithinFunctions("an object of \(entity.name) was to be saved")
    let candidates = stores(holding: entity)
    if let store = candidates.first(where: { !$0.isReadOnly }) { return store }
    guard let store = candidates.first else { throw GraphError.noStore(holding: entity) }
    throw GraphError(
      .readOnlyStore, message: "the store of \(entity.name) is read-only: \(store.writingAdvice)", entity: entity.name)
  }

  // MARK: Rows

  /// A row, from the cache if it was read before, and no longer ago than so many seconds.
  func snapshot(of id: ManagedObjectID, within seconds: Double? = nil) throws -> Snapshot? {
    if let known = rows[id], known.page.isFresh(within: seconds) { return known }
    // The coordinator of child contexts reads their parent, which reads the store.
    guard parentStores == nil else { return try currentSnapshot(of: id) }
    return try measuring(.fault, of: id.entityName) { try currentSnapshot(of: id) }
  }

  /// A row that must be there. Throws `.objectNotFound` where it is gone.
  func row(of id: ManagedObjectID, in view: ReadView?, within seconds: Double?) throws -> Snapshot {
    try present(snapshot(of: id, in: view, within: seconds), id: id)
  }

  /// A row as a view has it, or from the cache.
  func snapshot(of id: ManagedObjectID, in view: ReadView?, within seconds: Double? = nil) throws -> Snapshot? {
    if let view { return try view.snapshot(of: id, within: seconds) }
    return try snapshot(of: id, within: seconds)
  }

  /// A row that must be there, as the store has it now. Throws `.objectNotFound` where it is gone.
  func currentRow(of id: ManagedObjectID) throws -> Snapshot { try present(currentSnapshot(of: id), id: id) }

  private func present(_ row: Snapshot?, id: ManagedObjectID) throws -> Snapshot {
    if let row { return row }
    let known = (try? known([id])[0]) ?? id
    let reason =
      known == id
      ? "is not in its store (any more): it was deleted elsewhere"
      : "names another entity than its row: the object is \(known); make IDs of texts with managedObjectID(forURIRepresentation:)"
    throw GraphError(.objectNotFound, message: "\(id) \(reason)", entity: id.entityName, objectID: id)
  }

  /// A row as the store has it now.
  func currentSnapshot(of id: ManagedObjectID) throws -> Snapshot? {
    let store = try store(of: id)
    let found = try rows.reading { try store.snapshot(of: id).map { [$0] } ?? [] }
    if found.isEmpty { rows.remove([id]) }
    return found.first
  }

  /// Rows as the stores have them now; those that are gone are left out.
  func snapshots(of ids: [ManagedObjectID], in view: ReadView? = nil) throws -> [Snapshot] {
    if let view { return try view.snapshots(of: ids) }
    var result: [Snapshot] = []
    for (store, group) in try byStore(ids) {
      result += try rows.reading { try store.snapshots(of: group) }
    }
    return result
  }

  /// A fetch brought newer rows: those in the cache follow.
  func refreshRows(_ snapshots: some Collection<Snapshot> & Sendable) { rows.replace(snapshots) }

  /// Rows changed without a new version: contexts that ask read them anew.
  func forgetRows(of ids: [ManagedObjectID]) { rows.remove(ids) }

  /// What was read is read anew when it is asked for next.
  func forgetAllRows() { rows.removeAll() }

  /// The destinations of objects of one store as a view has them, or as they are now.
  func destinations(
    of ids: [ManagedObjectID], relationship slot: Slot, in view: ReadView? = nil
  ) throws -> [[ManagedObjectID]] {
    if let view { return try view.destinations(of: ids, relationship: slot) }
    guard let first = ids.first else { return [] }
    return try store(of: first).destinations(of: ids, relationship: slot)
  }

  /// The same with the rows of the destinations.
  func destinationRows(
    of ids: [ManagedObjectID], relationship slot: Slot, in view: ReadView? = nil
  ) throws -> DestinationRows {
    if let view { return try view.destinationRows(of: ids, relationship: slot) }
    guard let first = ids.first else { return DestinationRows() }
    return try store(of: first).destinationRows(of: ids, relationship: slot)
  }

  // MARK: Saving

  /// Writes changes in a session that is not committed. Throws the conflicts as one error.
  func write(_ changes: StoreChanges, in session: any SaveSession) throws {
    try GraphError.throwConflicts(conflicts(writing: changes, in: session))
  }

  /// Writes changes in a session that is not committed. Returns what is in the way.
  func conflicts(writing changes: StoreChanges, in session: any SaveSession) throws -> [SaveConflict] {
    let conflicts = try session.writeAll(changes)
    // Contexts that ask for what is in the way read it anew.
    rows.remove(conflicts.compactMap(\.otherID))
    return conflicts
  }

  /// How often the process wrote to these stores, through whichever coordinator: whether what was just read may be old is seen by it.
  var writingCount: Int {
    let numbers = storeNumbers
    return Self.writings.withLock { writings in numbers.reduce(0) { $0 &+ writings[$1, default: 0] } }
  }

  private func noteWriting() {
    let numbers = storeNumbers
    Self.writings.withLock { writings in for number in numbers { writings[number, default: 0] &+= 1 } }
  }

  private var storeNumbers: [UInt32] {
    followParent()
    return registry.withLock { Array($0.byNumber.keys) }
  }

  /// Runs `body`, which commits a save and says what it saved: who begins to read meanwhile does not trust the row cache.
  func committing<Result>(_ body: () throws -> Result) rethrows -> Result {
    rows.beginCommit()
    defer { rows.endCommit() }
    return try body()
  }

  /// A store committed these changes of a context, and derived values of some objects with them.
  func didSave(
    _ changes: StoreChanges, deriving derived: [ManagedObjectID], from sender: NewsInbox<SavedObjectIDs>?
  ) {
    noteWriting()
    rows.remove(changes.deleted.map(\.id))
    rows.write(changes.updated.rows)
    rows.remove(derived)
    if !changes.isEmpty { listeners.tell(SavedObjectIDs(changes, deriving: derived), from: sender) }
  }

  /// A store wrote by itself: what was read of these rows no longer holds.
  func didWrite(_ saved: SavedObjectIDs) {
    noteWriting()
    if !saved.entityNames.isEmpty { rows.outdateAll() }
    rows.remove(saved.updated + saved.deleted)
    listeners.tell(saved)
  }

  /// The saves of contexts of this coordinator, from the call on, one element for each store that a save wrote.
  /// `remoteChanges` has those of other processes. Each call makes a sequence of its own. The sequence ends when the
  /// container is closed, and with the coordinator.
  public var saves: AsyncStream<SavedObjectIDs> { listeners.stream() }

  /// Ends the sequences of saves.
  package func endSaves() { listeners.finish() }

  /// Tells contexts of what was saved elsewhere than through this coordinator.
  func tell(_ saved: SavedObjectIDs) { listeners.tell(saved) }

  /// A place for what contexts save from now on.
  func addInbox(_ onNews: (@Sendable () -> Void)? = nil) -> NewsInbox<SavedObjectIDs> {
    let inbox = NewsInbox<SavedObjectIDs>(onNews)
    listeners.add(inbox)
    return inbox
  }

  /// These changes were not saved: who asks for their rows reads them anew.
  func didNotSave(_ changes: StoreChanges) {
    rows.remove(changes.updated.rows.ids + changes.deleted.map(\.id))
  }
}
