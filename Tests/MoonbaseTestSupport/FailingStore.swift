public import MoonbaseGraph
public import MoonbaseModel
public import MoonbasePlatform

extension StoreBench {
  /// A bench, and its store, whose calls can be made to fail.
  public static func failing(
    _ kind: StoreKind, _ model: ManagedObjectModel = People.model()
  ) throws -> (bench: StoreBench, store: FailingStore) {
    var store: FailingStore?
    let bench = try StoreBench(kind, model) {
      let new = FailingStore($0)
      store = new
      return new
    }
    guard let store else { throw FailingStore.error }
    return (bench, store)
  }
}

/// A store whose reads fail from the n-th on until reset, whose commits fail, or whose n-th call of any kind fails.
public final class FailingStore: PersistentStore {
  /// The error that failing calls throw.
  public static let error = GraphError(.storeFailure, message: "the disk does not answer")

  private let base: any PersistentStore
  private let readsLeft = Lock<Int?>(nil)
  fileprivate let refusesCommits = Lock(false)
  private let firstKey = Lock<Int64?>(nil)
  private let callsLeft = Lock<Int?>(nil)

  private let meddling = Lock(Meddling())

  private struct Meddling: Sendable {
    var body: (@Sendable () throws -> Void)?
    var beforeCommit: (@Sendable () throws -> Void)?
  }

  /// Wraps a store.
  public init(_ base: any PersistentStore) { self.base = base }

  /// Lets `count` more reads succeed; nil lets all succeed.
  public func fail(afterReads count: Int?) { readsLeft.withLock { $0 = count } }

  /// Makes commits fail, after all rows are written.
  public func fail(atCommit fails: Bool) { refusesCommits.withLock { $0 = fails } }

  /// Lets `count` calls succeed, including those of save sessions, and the next call fail; later calls succeed.
  public func fail(onceAfterCalls count: Int?) { callsLeft.withLock { $0 = count } }

  /// Runs `body` once, after the next read of rows and before any other read, as a faster writer would.
  public func meddle(_ body: @escaping @Sendable () throws -> Void) { meddling.withLock { $0.body = body } }

  /// Runs `body` once, before the next commit, when all rows are written.
  public func meddleOnce(beforeCommit body: @escaping @Sendable () throws -> Void) {
    meddling.withLock { $0.beforeCommit = body }
  }

  fileprivate func meddleBeforeCommit() throws {
    let body = meddling.withLock { meddling in
      defer { meddling.beforeCommit = nil }
      return meddling.beforeCommit
    }
    try body?()
  }

  fileprivate func meddled<Rows>(_ rows: Rows) throws -> Rows {
    let body = meddling.withLock { meddling in
      defer { meddling.body = nil }
      return meddling.body
    }
    try body?()
    return rows
  }

  /// Whether the call that is to fail is still to come.
  public var isToFail: Bool { callsLeft.withLock { $0 != nil } }

  /// Sets the first key that the store reserves next.
  public func give(firstKey: Int64?) { self.firstKey.withLock { $0 = firstKey } }

  fileprivate func call() throws {
    try callsLeft.withLock { left in
      guard let count = left else { return }
      left = count > 0 ? count - 1 : nil
      if count == 0 { throw Self.error }
    }
  }

  fileprivate func read() throws {
    try call()
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

  public func metadata() throws -> [String: Value] {
    try call()
    return try base.metadata()
  }

  public func steps(of plan: QueryPlan) throws -> [String] { try base.steps(of: plan) }
  public func plan(_ query: StoreQuery) throws -> QueryPlan {
    try call()
    return try base.plan(query)
  }

  public func beginReading(_ extent: ReadScope) throws -> any ReadSession {
    try call()
    return FailingView(try base.beginReading(extent), of: self)
  }

  public func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64 {
    try call()
    return try firstKey.withLock { $0 } ?? base.reserveKeys(for: entity, count: count)
  }

  public var reservesKeysInSaves: Bool { base.reservesKeysInSaves }

  fileprivate var givenKey: Int64? { firstKey.withLock { $0 } }

  public func history() throws -> (any StoreHistory)? { try base.history() }

  public func beginSave(author: String?) throws -> any SaveSession {
    try call()
    return FailingSession(try base.beginSave(author: author), of: self)
  }
}

/// A save session that fails on demand; aborting never fails.
private final class FailingSession: SaveSession {
  private let base: any SaveSession
  private let store: FailingStore

  init(_ base: any SaveSession, of store: FailingStore) { (self.base, self.store) = (base, store) }

  func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64 {
    try store.call()
    return try store.givenKey ?? base.reserveKeys(for: entity, count: count)
  }

  func write(_ changes: StoreChanges) throws -> [SaveConflict] {
    try store.call()
    return try base.write(changes)
  }

  func metadata() throws -> [String: Value] {
    try store.call()
    return try base.metadata()
  }

  func setMetadata(_ metadata: [String: Value]) throws {
    try store.call()
    try base.setMetadata(metadata)
  }

  func deleteHistory(_ extent: HistoryRange) throws -> Int {
    try store.call()
    return try base.deleteHistory(extent)
  }

  func prepare() throws {
    try store.call()
    try base.prepare()
  }

  var derivedObjectIDs: [ManagedObjectID] { base.derivedObjectIDs }

  func commit() throws {
    try store.call()
    if store.refusesCommits.withLock({ $0 }) { throw FailingStore.error }
    try store.meddleBeforeCommit()
    try base.commit()
  }

  func abort() { base.abort() }
}

/// A read session that fails on demand; ending it never fails. Each page of a cursor is a call, and all pages together
/// are a read.
private final class FailingView: ReadSession {
  private let base: any ReadSession
  private let store: FailingStore

  init(_ base: any ReadSession, of store: FailingStore) { (self.base, self.store) = (base, store) }

  var canBeHeldOpen: Bool { base.canBeHeldOpen }

  func rows(matching query: StoreQuery) throws -> any RowCursor {
    try store.read()
    return FailingCursor(try base.rows(matching: query), of: store)
  }

  func snapshots(matching query: StoreQuery) throws -> [Snapshot] {
    try store.read()
    return try store.meddled(base.snapshots(matching: query))
  }

  func ids(matching query: StoreQuery) throws -> any IDCursor {
    try store.read()
    return FailingIDCursor(try base.ids(matching: query), of: store)
  }

  func values(matching query: StoreQuery) throws -> any RowCursor {
    try store.read()
    return FailingCursor(try base.values(matching: query), of: store)
  }

  func count(matching query: StoreQuery) throws -> Int {
    try store.read()
    return try base.count(matching: query)
  }

  func snapshot(of id: ManagedObjectID) throws -> Snapshot? {
    try store.read()
    return try base.snapshot(of: id)
  }

  func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot] {
    try store.read()
    return try base.snapshots(of: ids)
  }

  func destinations(of id: ManagedObjectID, relationship slot: Int) throws -> [ManagedObjectID] {
    try store.read()
    return try base.destinations(of: id, relationship: slot)
  }

  func destinations(of ids: [ManagedObjectID], relationship slot: Int) throws -> [[ManagedObjectID]] {
    try store.read()
    return try base.destinations(of: ids, relationship: slot)
  }

  func destinationRows(of ids: [ManagedObjectID], relationship slot: Int) throws -> DestinationRows {
    try store.read()
    return try base.destinationRows(of: ids, relationship: slot)
  }

  func end() { base.end() }
}

private final class FailingCursor: RowCursor {
  private let base: any RowCursor
  private let store: FailingStore

  init(_ base: any RowCursor, of store: FailingStore) { (self.base, self.store) = (base, store) }

  func next(upTo count: Int) throws -> RowBatch {
    try store.call()
    return try store.meddled(base.next(upTo: count))
  }

  func remainingIDs() throws -> IDList {
    try store.call()
    return try base.remainingIDs()
  }
}

private final class FailingIDCursor: IDCursor {
  private let base: any IDCursor
  private let store: FailingStore

  init(_ base: any IDCursor, of store: FailingStore) { (self.base, self.store) = (base, store) }

  func next(upTo count: Int) throws -> IDList {
    try store.call()
    return try base.next(upTo: count)
  }
}
