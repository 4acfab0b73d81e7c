public import MoonbaseModel
public import MoonbasePlatform
import Synchronization

/// A store that keeps its rows in memory and forgets them with the process.
///
/// It evaluates nothing itself: contexts do, with the same evaluator as for transient attributes. Where they look for values of
/// plain properties, it leaves out rows that have others.
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
  /// What the runs are told that saved here.
  private let weight = StoredWeight()
  private let ownHistory: InMemoryHistory?

  /// Makes an empty store for a model's entities, or those of one configuration. With `tracksHistory` it keeps a history of what is saved
  /// in it, until somebody deletes that.
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
    let index = query.sought.map { condition in
      "an index of " + condition.slots.map { query.entity.properties[$0].name }.joined(separator: ", ") + " over "
    }
    return QueryPlan(
      query, how: (index ?? "all rows of ") + entities, leavingAll: "a store in memory leaves it to the context")
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

/// The bytes of the rows of an in-memory store. They are the memory of the run that saved them, until it ends or the store goes.
private final class StoredWeight: Sendable {
  private let bytes = Atomic(0)

  func add(_ growth: Int) throws {
    try HostMemory.keep(growth)
    bytes.add(growth, ordering: .relaxed)
  }

  // Less ends no run.
  deinit { try? HostMemory.keep(-bytes.load(ordering: .relaxed)) }
}

/// A save of an in-memory store. Others read meanwhile, and nobody else saves: what was looked at stays so until the commit, which only
/// puts it in place.
private final class InMemorySaveSession: SaveSession {
  private let contents: Lock<InMemoryContents>
  private let turn: LockHold<Void>
  private let weight: StoredWeight
  private let history: InMemoryHistory?
  private let author: String?
  /// What the rows weigh more by this save.
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

  func deleteHistory(_ extent: HistoryRange) throws -> Int {
    guard let history else { return 0 }
    lostHistory = extent
    return history.count(extent)
  }

  /// What is derived is tried before anybody sees it, for a commit cannot fail.
  func prepare() throws {
    guard var trial = contents.withLock(\.trial) else { return }
    _ = trial.write(changes)
    if let misfit = trial.misfit { throw misfit }
  }

  func commit() {
    end { stored in
      if let lostHistory { history?.delete(lostHistory) }
      // Rows that go are still there.
      history?.record(changes, author: author, in: stored)
      derivedObjectIDs = stored.write(changes)
      if let newMetadata { stored.metadata = newMetadata }
    }
  }

  func abort() {
    if !isOver { try? weight.add(-growth) }
    end { $0.giveUp(claims) }
  }

  private func end(_ body: (inout InMemoryContents) -> Void) {
    if isOver { return }
    isOver = true
    contents.withLock { body(&$0) }
    turn.release()
  }
}
