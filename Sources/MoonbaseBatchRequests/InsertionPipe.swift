import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Passes new rows of one entity to another thread, which writes them in one transaction while further rows are made.
///
/// The other thread has the rows and the store, but no objects. It holds the store exclusively, so keys are counted
/// here and reserved when all rows are written.
final class InsertionPipe {
  private let rows = RowQueue()
  private let errand = AwaitedErrand()
  /// The result of the other thread when it ends; a nil value if the store did not take rows.
  private let result = Lock<Result<StoreBatchResult?, any Error>?>(nil)
  private let number: StoreNumber
  private let entity: ResolvedEntity
  /// The key of the next row; nil until the store has supplied it.
  private var nextKey: Int64?
  private var isWaitedFor = false

  /// Begins the writing, if the store takes rows as they come.
  init(to store: any StreamingStore, of entity: ResolvedEntity, for context: ManagedObjectContext) throws {
    (number, self.entity) = (StoreNumber(store.identifier), entity)
    let work = Lock<Work?>(
      Work(
        store: store, entity: entity, coordinator: context.coordinator, author: context.transactionAuthor,
        contextName: context.name, rows: rows))
    let (errand, result, rows) = (errand, result, rows)
    let thread = Thread {
      errand.run {
        // The work releases the store before the result is awaited, so that releasing the store afterwards closes its
        // file.
        let done = Result { try work.withLock { $0.take() }?.run() }
        result.withLock { $0 = done }
      }
      rows.breakOff()
    }
    thread.name = "Moonbase insert"
    thread.stackSize = 16 << 20
    thread.start()
  }

  deinit {
    rows.breakOff()
    if !isWaitedFor { _ = errand.wait() }
  }

  /// Passes on the new objects of a context, which is discarded afterwards. Returns false if the store does not take
  /// rows.
  func send(_ context: ManagedObjectContext) throws -> Bool {
    guard let key = try nextKey ?? rows.firstKey() else { return false }
    try context.prepareBatch()
    let (next, isOver) = key.addingReportingOverflow(Int64(context.changedObjects.count))
    if isOver { throw try SavePlan.keysRunOut(key, of: entity, in: context.coordinator.storeForNewObjects(of: entity)) }
    let plan = try SavePlan(context, keys: .following(number, key))
    guard plan.plans.count == 1, let part = plan.plans.first, part.number == number.rawValue,
      part.changes.updated.isEmpty, part.changes.deleted.isEmpty, part.changes.links.isEmpty
    else {
      throw GraphError(
        .invalidRequest,
        message: "\(entity.name): the rows of a batch insert go to one store, and are attributes alone",
        entity: entity.name)
    }
    nextKey = next
    try rows.add(part.changes.inserted)
    return true
  }

  /// Waits until all rows are written, and returns the result.
  func finish() throws -> StoreBatchResult {
    rows.complete()
    let ending = wait()
    let done = result.withLock { $0 ?? .failure(BrokenHandover()) }
    // A commit counts, even if the run was ended meanwhile.
    if case .failure = done, let ending { throw ending }
    guard let written = try done.get() else { throw BrokenHandover() }
    return written
  }

  /// Aborts the insertion. Returns the error to report, preferring the store's error.
  func breakOff(because error: any Error) -> any Error {
    rows.breakOff()
    let ending = wait()
    guard error is BrokenHandover else { return error }
    if let ending { return ending }
    if case .failure(let failure)? = result.withLock({ $0 }) { return failure }
    return error
  }

  private func wait() -> (any Error)? {
    if isWaitedFor { return nil }
    isWaitedFor = true
    return errand.wait()
  }

  /// The work of the other thread.
  private struct Work: Sendable {
    let store: any StreamingStore
    let entity: ResolvedEntity
    let coordinator: PersistentStoreCoordinator
    let author: String?
    let contextName: String?
    let rows: RowQueue

    func run() throws -> StoreBatchResult? {
      var begun: (any SaveSession)?
      do {
        let session = try store.beginSave(author: author)
        begun = session
        guard try store.acceptsStreamedRows(in: session) else {
          session.abort()
          rows.decline()
          return nil
        }
        let first = try session.reserveKeys(for: entity, count: 0)
        try rows.begin(at: first)
        var changes = StoreChanges()
        changes.contextName = contextName
        changes.following = rows
        try coordinator.write(changes, in: session)
        let count = rows.count
        guard try SavePlan.reserveKeys(count, of: entity, in: store, by: session).key == first else {
          throw GraphError(
            .invalidStore,
            message:
              "\(store.name): a trigger gave keys of \(entity.name) while its rows were written: insert them in a context",
            entity: entity.name)
        }
        try session.prepare()
        let ids = (0..<Int64(count)).map { store.objectID(for: entity, key: first + $0) }
        return try coordinator.committing {
          try session.commit()
          let derived = session.derivedObjectIDs.filter { $0.entitySymbol != entity.symbol || $0.key < first }
          coordinator.didWrite(SavedObjectIDs(inserted: ids, updated: derived))
          return StoreBatchResult(
            count: count, written: count, objectIDs: ids, changes: SavedObjectIDs(inserted: ids, updated: derived))
        }
      } catch {
        begun?.abort()
        throw error
      }
    }
  }
}
