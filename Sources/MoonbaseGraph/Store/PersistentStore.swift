public import MoonbaseModel
public import MoonbasePlatform

/// Where objects are kept between runs: the seam between the graph and a file format.
///
/// A store is shared by contexts on several threads and answers synchronously, because faults fire synchronously. SQLite and
/// memory are two implementations; others may be written (Core Data's `NSIncrementalStore`).
///
/// Errors: `GraphError` with `.objectNotFound`, `.constraintConflict`, `.readOnlyStore`, `.storeBusy` or `.storeFailure`. What other
/// contexts saved meanwhile is no error of the store: a save session returns it (`SaveConflict`).
public protocol PersistentStore: AnyObject, Sendable {
  /// An upper-case UUID that stays with the store's data.
  var identifier: String { get }
  /// The kind of store, as Core Data names it: `SQLite`, `InMemory`.
  var type: String { get }
  /// The file; nil for a store without one.
  var url: URL? { get }
  /// Whether `save` is refused.
  var isReadOnly: Bool { get }
  /// What to do so that it can be saved into, where it is read-only, as a clause.
  var writingAdvice: String { get }
  /// The entities that the store holds: those of its configuration, or all of the model.
  var entities: [ResolvedEntity] { get }

  /// The store's metadata, its version hashes among them.
  func metadata() throws -> [String: Value]

  /// What the store takes over of a query, and what it leaves to the context, which judges and sorts in memory. Sessions
  /// are asked with what it takes over (`QueryPlan.query`). Throws only where the store cannot be asked.
  func plan(_ query: StoreQuery) throws -> QueryPlan

  /// How the store's engine will find the rows of a plan, a line for each step, for a person. No row is read.
  func steps(of plan: QueryPlan) throws -> [String]

  /// Begins reading. The session has one state of the store as of the call, as far as it is asked for more than one call.
  func beginReading(_ extent: ReadScope) throws -> any ReadSession

  /// Sets `count` consecutive primary keys of the entity's table aside and returns the first. They are never given again. It is not
  /// called while the same context has a session of the store.
  func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64
  /// Whether save sessions set keys aside too, with what they write: where that spares a transaction.
  var reservesKeysInSaves: Bool { get }
  /// Begins a save, and waits for one that is on its way. A store that keeps a history names `author` in it.
  func beginSave(author: String?) throws -> any SaveSession

  /// The history that the store keeps of what is saved; nil where it keeps none.
  func history() throws -> (any StoreHistory)?

  /// Tells of what others write to the store from now on, on any thread; nil where nobody else can, or nobody would notice.
  func observeRemoteChanges(
    _ handler: @escaping @Sendable (PersistentStoreRemoteChange) -> Void
  ) -> RemoteChangeObservation?

  /// Does a batch update or deletion by itself, in one transaction, or leaves it to the graph (nil), which then reads the rows and
  /// saves what becomes of them.
  func execute(_ request: StoreBatchRequest) throws -> StoreBatchResult?

  /// Ends what is being read, waits for the save that is being written, and closes the files. Later
  /// requests to the store throw an error. Called on any thread, while others use the store.
  func close()
}

extension PersistentStore {
  /// Leaves the store to its last reference.
  public func close() {}

  /// Keys are set aside by themselves.
  public var reservesKeysInSaves: Bool { false }

  /// To open it so.
  public var writingAdvice: String { "open it for writing to save" }

  /// The ID of the store's row with a primary key, for a store that makes rows of its own (`newObjectID(for:referenceObject:)`
  /// of Core Data's incremental stores).
  public func objectID(for entity: ResolvedEntity, key: Int64) -> ManagedObjectID {
    ManagedObjectID(store: StoreNumber(identifier), entity: entity.symbol, key: key)
  }

  /// Leaves conditions and order to the context.
  public func plan(_ query: StoreQuery) throws -> QueryPlan {
    QueryPlan(query, how: "the rows of \(query.entity.name)", leavingAll: "a store of type \(type) evaluates nothing")
  }

  /// Says no more than the plan does.
  public func steps(of plan: QueryPlan) throws -> [String] { [] }
}

extension Array {
  /// So many rows come at a time.
  package static var batchSize: Int { 512 }

  /// Hands the elements to `body`, some at a time, until it returns false; those it had are let go.
  package consuming func forEachBatch(_ body: ([Element]) throws -> Bool) rethrows {
    var rest = self
    rest.reverse()
    while !rest.isEmpty {
      let batch = Array(rest.suffix(Self.batchSize).reversed())
      rest.removeLast(batch.count)
      guard try body(batch) else { return }
    }
  }
}
