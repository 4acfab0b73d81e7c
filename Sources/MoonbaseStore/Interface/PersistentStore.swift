public import MoonbaseModel
public import MoonbasePlatform

/// A place where objects are kept between runs: the boundary between the graph and a file format.
///
/// A store is shared by contexts on several threads and answers synchronously, because faults fire synchronously.
/// `SQLiteStore` and `InMemoryStore` are two implementations; a program may add others (as with Core Data's
/// `NSIncrementalStore`).
///
/// Errors: `GraphError` with `.objectNotFound`, `.constraintConflict`, `.readOnlyStore`, `.storeBusy` or
/// `.storeFailure`. Conflicts with other contexts' saves are not errors of the store: a save session returns them
/// (`SaveConflict`).
public protocol PersistentStore: AnyObject, Sendable {
  /// An upper-case UUID that stays with the store's data.
  var identifier: String { get }
  /// The kind of store, as Core Data names it: `SQLite`, `InMemory`.
  var type: String { get }
  /// The location of the file; nil for a store without a file.
  var url: URL? { get }
  /// Whether saves are refused.
  var isReadOnly: Bool { get }
  /// The remedy for a read-only store, as a clause of an error message.
  var writingAdvice: String { get }
  /// The entities that the store holds: the entities of its configuration, or all of the model.
  var entities: [ResolvedEntity] { get }

  /// The store's metadata, its version hashes among them.
  func metadata() throws -> [String: Value]

  /// Divides a query into the part that the store executes and the rest, which the context evaluates and sorts in
  /// memory. Sessions receive the store's part (`QueryPlan.query`). Throws only if the store cannot be used.
  func plan(_ query: StoreQuery) throws -> QueryPlan

  /// How the store's engine will find the rows of a plan, one line for each step, for display. Reads no rows.
  func steps(of plan: QueryPlan) throws -> [String]

  /// Begins reading. A session for more than one call shows one state of the store, as of this call.
  func beginReading(_ extent: ReadScope) throws -> any ReadSession

  /// Reserves `count` consecutive primary keys of the entity's table and returns the first. Reserved keys are never
  /// given out again. Not called while the same context has a session of the store.
  func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64
  /// Whether save sessions also reserve keys, which saves a transaction.
  var reservesKeysInSaves: Bool { get }
  /// Begins a save, after any running save has ended. A store that keeps a history records `author`.
  func beginSave(author: String?) throws -> any SaveSession

  /// The history that the store keeps of its saves; nil if it keeps none.
  func history() throws -> (any StoreHistory)?

  /// Calls `handler`, on any thread, when another process or connection writes to the store; nil if the store cannot be
  /// written from elsewhere or does not notice.
  func observeRemoteChanges(
    _ handler: @escaping @Sendable (PersistentStoreRemoteChange) -> Void
  ) -> RemoteChangeObservation?

  /// Executes a batch update or deletion in one transaction. Nil leaves the request to the graph, which reads the rows
  /// and saves the changed objects.
  func execute(_ request: StoreBatchRequest) throws -> StoreBatchResult?

  /// Ends reads, waits for a running save, and closes the files. Later requests to the store throw. Called on any
  /// thread, while other threads use the store.
  func close()
}

extension PersistentStore {
  /// Does nothing: the store closes when its last reference is released.
  public func close() {}

  /// False: keys are reserved separately.
  public var reservesKeysInSaves: Bool { false }

  /// Advises to open the store for writing.
  public var writingAdvice: String { "open it for writing to save" }

  /// The path of the store's file, or its UUID, for error messages and explanations.
  package var name: String {
    url.map { $0.isFileURL ? $0.relativePath : $0.absoluteString } ?? "store \(identifier)"
  }

  /// The object ID of the store's row with a primary key, for stores that a program implements
  /// (`newObjectID(for:referenceObject:)` of Core Data's incremental stores).
  public func objectID(for entity: ResolvedEntity, key: Int64) -> ManagedObjectID {
    ManagedObjectID(store: StoreNumber(identifier), entity: entity.symbol, key: key)
  }

  /// Leaves predicate and order to the context.
  public func plan(_ query: StoreQuery) throws -> QueryPlan {
    QueryPlan(
      query, accessPath: "the rows of \(query.entity.name)", leavingAll: "a store of type \(type) evaluates nothing")
  }

  /// Returns no steps: the plan describes all.
  public func steps(of plan: QueryPlan) throws -> [String] { [] }
}

extension Array {
  /// The number of elements in a batch.
  package static var batchSize: Int { 512 }

  /// Passes the elements to `body` in batches until it returns false. Each batch is released afterwards.
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
