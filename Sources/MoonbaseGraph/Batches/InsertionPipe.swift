import MoonbaseModel
import MoonbasePlatform

/// A store that writes new rows of a save while others are still made (`StoreChanges.following`).
package protocol RowTaker: PersistentStore {
  /// Whether it does in this save, and can be read meanwhile.
  func takesRowsAsTheyCome(in session: any SaveSession) throws -> Bool
}

/// New rows of one entity, which one thread makes while another thread writes those before in one transaction.
///
/// The other thread has rows and the store, and no object. Nobody else is given keys while it has the store: they are counted here, and set aside
/// when all rows are there.
final class InsertionPipe {
  private let rows = RowQueue()
  private let errand = AwaitedErrand()
  /// Of the other thread, when it is done: what was written, nil where the store took no rows.
  private let result = Lock<Result<StoreBatchResult?, any Error>?>(nil)
  private let number: StoreNumber
  private let entity: ResolvedEntity
  /// The key of the next row; nil as long as the store has not told it.
  private var nextKey: Int64?
  private var isWaitedFor = false

  /// Begins to write, if the store takes rows as they come.
  init(to store: any RowTaker, of entity: ResolvedEntity, for context: ManagedObjectContext) throws {
    (number, self.entity) = (StoreNumber(store.identifier), entity)
    let work = Lock<Work?>(
      Work(
        store: store, entity: entity, coordinator: context.coordinator, author: context.transactionAuthor,
        contextName: context.name, rows: rows))
    let (errand, result, rows) = (errand, result, rows)
    let thread = Thread {
      errand.run {
        // It lets go of the store before it is waited for: who then lets the store go closes its file.
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

  /// Hands over the new objects of a context, all of the entity: it is of no use any more. False where the store does not take them.
  func take(_ context: ManagedObjectContext) throws -> Bool {
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

  /// Waits until all is written; what was.
  func finish() throws -> StoreBatchResult {
    rows.complete()
    let ending = wait()
    let done = result.withLock { $0 ?? .failure(BrokenHandover()) }
    // What is committed is there, whatever ended the run meanwhile.
    if case .failure = done, let ending { throw ending }
    guard let written = try done.get() else { throw BrokenHandover() }
    return written
  }

  /// Gives all up. Returns why, as far as the store knows it better.
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

  /// What the other thread does.
  private struct Work: Sendable {
    let store: any RowTaker
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
        guard try store.takesRowsAsTheyCome(in: session) else {
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
              "\(store.url?.path ?? store.identifier): a trigger gave keys of \(entity.name) while its rows were written: insert them in a context",
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

/// Whether a handler makes rows on this thread that a store may be writing already: who would write that store would wait for itself, and who would
/// write another one could wait for somebody that waits for the first.
package enum BatchInsertHandler {
  @TaskLocal private static var isRunning = false

  static func run(_ body: () throws -> Void) rethrows { try $isRunning.withValue(true, operation: body) }

  /// Throws where a store was to be written by one.
  package static func refuseWriting(_ name: @autoclosure () -> String) throws {
    guard isRunning else { return }
    throw GraphError(
      .contextBusy,
      message:
        "\(name()) was to be written by the handler of a batch insert, whose store may be written meanwhile: do it before or after the insert"
    )
  }
}

/// Rows on their way from the thread that makes them to the one that writes them, some thousand together.
package final class RowQueue: @unchecked Sendable {  // `count` is touched only by the thread that writes
  private let batches = Handover<RowBatch>(depth: 2)
  private let keys = Handover<Int64>(depth: 1)
  /// How many rows were taken.
  private(set) var count = 0

  // MARK: Making

  /// The key of the first row, when the store tells it.
  func firstKey() throws -> Int64? { try keys.take() }

  /// Adds rows, waiting for room.
  func add(_ rows: RowBatch) throws { try batches.put(rows) }

  /// All rows were added.
  func complete() { batches.complete() }

  /// One side gives up.
  func breakOff() {
    keys.breakOff()
    batches.breakOff()
  }

  // MARK: Writing

  func begin(at key: Int64) throws { try keys.put(key) }

  /// The store takes no rows.
  func decline() { keys.complete() }

  /// The next rows, in the order of their keys; nil where these were all.
  package func next() throws -> RowBatch? {
    let rows = try batches.take()
    count += rows?.count ?? 0
    return rows
  }
}
