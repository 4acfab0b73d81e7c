public import MoonbaseModel
public import MoonbasePlatform
import Synchronization

/// A store that keeps its rows in memory until the process ends.
///
/// The store evaluates no predicates itself: contexts evaluate them, with the same evaluator as for transient
/// attributes. For predicates that compare plain properties for equality, an index narrows down the rows.
///
/// ```swift
/// let store = try InMemoryStore(model: resolved)
/// try coordinator.add(store)
/// ```
public final class InMemoryStore: PersistentStore {
  public let identifier: String
  public let entities: [ResolvedEntity]

  let contents: Lock<InMemoryContents>
  /// Held by the session that saves.
  private let saves = Lock(())
  /// The memory that stored rows take, charged to the runs that saved them.
  private let weight = StoredWeight()
  private let ownHistory: InMemoryHistory?

  /// Makes an empty store for a model's entities, or for those of one configuration. With `tracksHistory` the store
  /// records each save in a history, which grows until a program deletes from it.
  public init(model: ResolvedModel, configuration: String? = nil, tracksHistory: Bool = false) throws {
    contents = Lock(InMemoryContents(model: model))
    identifier = UUID.random().uuidString
    ownHistory = tracksHistory ? InMemoryHistory(storeID: identifier) : nil
    entities = try model.entities(inConfiguration: configuration)
  }

  public var type: String { "InMemory" }
  public var url: URL? { nil }
  public var isReadOnly: Bool { false }

  public func metadata() -> [String: Value] { contents.withLock { $0.metadata } }

  public func plan(_ query: StoreQuery) -> QueryPlan {
    let entities = query.entities.map { query.model.entities[$0].name }.joined(separator: ", ")
    let index = query.narrowingCondition.map { condition in
      "an index of " + condition.slots.map { query.entity.properties[$0].name }.joined(separator: ", ") + " over "
    }
    return QueryPlan(
      query, accessPath: (index ?? "all rows of ") + entities, leavingAll: "a store in memory leaves it to the context")
  }

  public func beginReading(_ extent: ReadScope) -> any ReadSession {
    switch extent {
    case .oneCall: InMemoryReadSession(current: contents)
    case .view: InMemoryReadSession(copyOf: contents)
    }
  }

  public func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64 {
    contents.withLock { contents in
      let last = contents.lastKeys[entity.root] ?? 0
      contents.lastKeys[entity.root] = last + Int64(count)
      return last + 1
    }
  }

  public func beginSave(author: String?) throws -> any SaveSession {
    InMemorySaveSession(contents, try saves.holdInTime(), weight, history: ownHistory, author: author)
  }

  public func history() -> (any StoreHistory)? { ownHistory }
}

/// The bytes of an in-memory store's rows, charged to the run that saved them until the run ends or the store is
/// released.
private final class StoredWeight: Sendable {
  private let bytes = Atomic(0)

  func add(_ growth: Int) throws {
    try HostMemory.keep(growth)
    bytes.add(growth, ordering: .relaxed)
  }

  // A negative amount never exceeds the limit, so the call cannot throw.
  deinit { try? HostMemory.keep(-bytes.load(ordering: .relaxed)) }
}

/// A save of an in-memory store. Meanwhile other sessions may read, but not save. Thus results of checks hold until the
/// commit, which only applies the changes.
private final class InMemorySaveSession: SaveSession {
  private let contents: Lock<InMemoryContents>
  private let turn: LockHold<Void>
  private let weight: StoredWeight
  private let history: InMemoryHistory?
  private let author: String?
  /// The number of bytes that this save adds to the rows.
  private var growth = 0
  private var changes = StoreChanges()
  private var claims = InMemoryContents.Claims()
  private var newMetadata: [String: Value]?
  private var lostHistory: HistoryRange?
  private(set) var derivedObjectIDs: [ManagedObjectID] = []
  private var isOver = false

  init(
    _ contents: Lock<InMemoryContents>, _ turn: LockHold<Void>, _ weight: StoredWeight, history: InMemoryHistory?,
    author: String?
  ) {
    (self.contents, self.turn, self.weight) = (contents, turn, weight)
    (self.history, self.author) = (history, author)
  }

  deinit { abort() }

  func write(_ changes: StoreChanges) throws -> [SaveConflict] {
    growth = contents.withLock { $0.growth(by: changes) }
    if history != nil { growth += InMemoryHistory.weight(of: changes) }
    do { try weight.add(growth) } catch {
      growth = 0
      throw error
    }
    let result = contents.withLock { $0.claim(changes) }
    claims = result.claims
    if result.conflicts.isEmpty { self.changes = changes }
    return result.conflicts
  }

  func metadata() -> [String: Value] { newMetadata ?? contents.withLock { $0.metadata } }

  func setMetadata(_ metadata: [String: Value]) { newMetadata = metadata }

  package func deleteHistory(_ extent: HistoryRange) throws -> Int {
    guard let history else { return 0 }
    lostHistory = extent
    return history.count(extent)
  }

  /// Tries the derived values before other sessions see the changes, because a commit cannot fail.
  package func prepare() throws {
    guard var trial = contents.withLock(\.trial) else { return }
    _ = trial.write(changes)
    if let misfit = trial.misfit { throw misfit }
  }

  package func commit() {
    end { stored in
      if let lostHistory { history?.delete(lostHistory) }
      // The history is recorded first, while deleted rows are still present.
      history?.record(changes, author: author, in: stored)
      derivedObjectIDs = stored.write(changes)
      if let newMetadata { stored.metadata = newMetadata }
    }
  }

  package func abort() {
    if !isOver { try? weight.add(-growth) }
    end { $0.release(claims) }
  }

  private func end(_ body: (inout InMemoryContents) -> Void) {
    if isOver { return }
    isOver = true
    contents.withLock { body(&$0) }
    turn.release()
  }
}
