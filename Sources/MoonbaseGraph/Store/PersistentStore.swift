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
  /// The entities that the store holds: those of its configuration, or all of the model.
  var entities: [ResolvedEntity] { get }

  /// The store's metadata, its version hashes among them.
  func metadata() throws -> [String: Value]

  /// What the store takes over of a query, and what it leaves to the context, which judges and sorts in memory. The other functions
  /// are asked with what it takes over (`QueryPlan.query`). Throws only where the store cannot be asked.
  func plan(_ query: StoreQuery) throws -> QueryPlan

  /// The rows that match.
  func snapshots(matching query: StoreQuery) throws -> [Snapshot]
  /// Hands the rows that match to `body`, some at a time, until it returns false: rows of one state of the store, which
  /// are not held all at once. `body` may read the store.
  func forEachBatch(matching query: StoreQuery, _ body: ([Snapshot]) throws -> Bool) throws
  /// The IDs of the rows that match.
  func objectIDs(matching query: StoreQuery) throws -> [ManagedObjectID]
  /// How many rows match.
  func count(matching query: StoreQuery) throws -> Int

  /// The row of an object; nil if there is none (any more).
  func snapshot(of id: ManagedObjectID) throws -> Snapshot?
  /// The rows of several objects in any order; objects without a row are left out.
  func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot]
  /// The destinations of a to-many relationship, in order where it is ordered. Of a one-to-one relationship the objects whose rows
  /// lead here by its other side, whatever the row of this one says.
  func destinations(of id: ManagedObjectID, relationship slot: Slot) throws -> [ManagedObjectID]

  /// The same of a relationship of several objects of one entity, in the order of `ids`.
  func destinations(of ids: [ManagedObjectID], relationship slot: Slot) throws -> [[ManagedObjectID]]

  /// Sets `count` consecutive primary keys of the entity's table aside and returns the first. They are never given again.
  func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64
  /// Begins a save, and waits for one that is on its way. A store that keeps a history names `author` in it.
  func beginSave(author: String?) throws -> any SaveSession
}

extension PersistentStore {
  /// The ID of the store's row with a primary key, for a store that makes rows of its own (`newObjectID(for:referenceObject:)`
  /// of Core Data's incremental stores).
  public func objectID(for entity: ResolvedEntity, key: Int64) -> ManagedObjectID {
    ManagedObjectID(store: StoreNumber(identifier), entity: entity.symbol, key: key)
  }

  /// Leaves conditions and order to the context.
  public func plan(_ query: StoreQuery) throws -> QueryPlan {
    QueryPlan(query, how: "the rows of \(query.entity.name)", leavingAll: "a store of type \(type) evaluates nothing")
  }

  /// Reads all rows, and lets them go as they are used.
  public func forEachBatch(matching query: StoreQuery, _ body: ([Snapshot]) throws -> Bool) throws {
    try snapshots(matching: query).forEachBatch(body)
  }

  /// Asks for one object after the other.
  public func destinations(of ids: [ManagedObjectID], relationship slot: Slot) throws -> [[ManagedObjectID]] {
    try ids.map { try destinations(of: $0, relationship: slot) }
  }
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
