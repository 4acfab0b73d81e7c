public import MoonbaseGraph
public import MoonbaseModel
public import MoonbasePlatform

/// A store whose n-th read fails, and every one after it until it is told otherwise; or whose commits fail.
public final class FailingStore: PersistentStore {
  /// What the failing read throws.
  public static let error = GraphError(.storeFailure, message: "the disk does not answer")

  private let base: any PersistentStore
  private let readsLeft = Lock<Int?>(nil)
  private let refusesCommits = Lock(false)
  private let firstKey = Lock<Int64?>(nil)

  /// Wraps a store.
  public init(_ base: any PersistentStore) { self.base = base }

  /// Lets `count` more reads succeed; nil lets all succeed.
  public func fail(afterReads count: Int?) { readsLeft.withLock { $0 = count } }

  /// Lets commits fail, after all is written.
  public func fail(atCommit fails: Bool) { refusesCommits.withLock { $0 = fails } }

  /// Gives this as the first of the keys that are asked for.
  public func give(firstKey: Int64?) { self.firstKey.withLock { $0 = firstKey } }

  private func read() throws {
    try readsLeft.withLock { left in
      guard let count = left else { return }
      guard count > 0 else { throw Self.error }
      left = count - 1
    }
  }

  public var identifier: String { base.identifier }
  public var type: String { base.type }
  public var url: URL? { base.url }
  public var isReadOnly: Bool { base.isReadOnly }
  public var entities: [ResolvedEntity] { base.entities }
  public func metadata() throws -> [String: Value] { try base.metadata() }
  public func plan(_ query: StoreQuery) throws -> QueryPlan { try base.plan(query) }

  public func snapshots(matching query: StoreQuery) throws -> [Snapshot] {
    try read()
    return try base.snapshots(matching: query)
  }

  public func objectIDs(matching query: StoreQuery) throws -> [ManagedObjectID] {
    try read()
    return try base.objectIDs(matching: query)
  }

  public func count(matching query: StoreQuery) throws -> Int {
    try read()
    return try base.count(matching: query)
  }

  public func snapshot(of id: ManagedObjectID) throws -> Snapshot? {
    try read()
    return try base.snapshot(of: id)
  }

  public func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot] {
    try read()
    return try base.snapshots(of: ids)
  }

  public func destinations(of id: ManagedObjectID, relationship slot: Int) throws -> [ManagedObjectID] {
    try read()
    return try base.destinations(of: id, relationship: slot)
  }

  public func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64 {
    try firstKey.withLock { $0 } ?? base.reserveKeys(for: entity, count: count)
  }

  public func beginSave(author: String?) throws -> any SaveSession {
    FailingSession(try base.beginSave(author: author)) { [refusesCommits] in refusesCommits.withLock { $0 } }
  }
}

/// A session whose commit fails while it is told to.
private final class FailingSession: SaveSession {
  private let base: any SaveSession
  private let fails: () -> Bool

  init(_ base: any SaveSession, _ fails: @escaping () -> Bool) { (self.base, self.fails) = (base, fails) }

  func write(_ changes: StoreChanges) throws -> [SaveConflict] { try base.write(changes) }
  func setMetadata(_ metadata: [String: Value]) throws { try base.setMetadata(metadata) }
  func prepare() throws { try base.prepare() }

  func commit() throws {
    if fails() { throw FailingStore.error }
    try base.commit()
  }

  func abort() { base.abort() }
}
