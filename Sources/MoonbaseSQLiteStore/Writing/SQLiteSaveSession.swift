import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// A save in a SQLite store: a transaction of the writing connection, whose lock the session holds.
///
/// A failure ends the transaction at once: explaining an error reads the file, and a transaction may block readers.
///
/// The order of calls: `init`, `reserveKeys`, `write`, `prepare`, `commit`; or `abort` at any time. Each error rolls
/// back, so that further calls do nothing. The writer's lock is held until the session ends, and further writers wait
/// for it.
final class SQLiteSaveSession: SaveSession {
  /// The store that is written.
  let store: SQLiteStore
  /// The author for the history.
  private let author: String?
  /// The hold on the writer's lock.
  private let writer: LockHold<Session?>
  /// Nil before `write`.
  private var transaction: SaveTransaction?
  /// The objects whose derived attributes changed, known after `prepare`.
  private(set) var derivedObjectIDs: [ManagedObjectID] = []
  /// Whether the transaction has ended.
  private var isOver = false
  /// The metadata read in this transaction. No other connection can change it meanwhile.
  private var readMetadata: StoreMetadata?

  /// Takes the writer's lock and begins the transaction. Throws `.storeBusy` after the timeout, `.readOnlyStore`, and
  /// the errors of a changed schema.
  init(_ store: SQLiteStore, author: String?) throws {
    (self.store, self.author) = (store, author)
    writer = try store.writable().holdInTime()
    try run { session in
      try store.ready(session)
      try session.connection.begin()
      try store.schema.check(session.connection)
      try session.connection.boundTriggers(to: store.options.triggerStepLimit)
      _ = session.derivedRows.drainRows()
    }
  }

  /// Rolls back a session that nobody ended.
  deinit { end(committed: false) }

  /// Returns the first of `count` consecutive keys.
  func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64 {
    try run { try store.reserveKeys(for: entity, count: count, in: $0) } ?? 0
  }

  /// Writes history and rows and returns the conflicts; with conflicts, call `abort`.
  func write(_ changes: StoreChanges) throws -> [SaveConflict] {
    try run { session in
      if let form = try session.historyForm(path: store.file.path) {
        try HistoryWriter(
          layout: store.layout, connection: session.connection, path: store.file.path, author: author, form: form
        ).write(changes)
      }
      var new = SaveTransaction(
        changes, layout: store.layout, connection: session.connection, externalData: store.externalData,
        orderEnds: session.orderEnds)
      // Kept also where the save fails: the transaction knows the files that were made.
      defer { transaction = new }
      return try store.findingRows(of: new.run(), in: session)
    } ?? []
  }

  /// The program's own entries.
  func metadata() throws -> [String: Value] {
    try run { try metadata($0).foreignValues } ?? [:]
  }

  /// Read once per session.
  private func metadata(_ session: Session) throws -> StoreMetadata {
    if let readMetadata { return readMetadata }
    let read = try StoreMetadata(session.connection, path: store.file.path)
    readMetadata = read
    return read
  }

  /// Throws `.invalidValue` for a value that no property list can hold, and `.constraintConflict` if the file ignores
  /// the change.
  func setMetadata(_ metadata: [String: Value]) throws {
    try run { session in
      var current = try self.metadata(session)
      readMetadata = nil
      try current.replaceForeignEntries(with: metadata)
      try current.write(session.connection)
      if session.connection.changes == 0 { throw GraphError.ignored("the metadata", in: store.file.path) }
    }
  }

  /// Derives attributes and synchronizes external files. Throws `.numberTooLarge` and `.numberTooSmall`.
  func prepare() throws {
    try run { session in
      derivedObjectIDs = try store.derive(in: session)
      try transaction?.prepare()
    }
  }

  /// Afterwards the session has ended.
  func commit() throws {
    try run { try $0.connection.commit() }
    end(committed: true)
  }

  /// Rolls back; does nothing in a session that has ended.
  func abort() { end(committed: false) }

  /// Runs `body` with the writing session. An error ends the session and is thrown translated. Nil after the end.
  @discardableResult
  func run<Result>(_ body: (Session) throws -> Result) throws -> Result? {
    do {
      return try writer { session in
        guard let session else { throw store.closedError }
        return try body(session)
      }
    } catch {
      end(committed: false)
      throw store.explained(error)
    }
  }

  /// Settles external files and releases the lock. Runs once.
  private func end(committed: Bool) {
    if isOver { return }
    isOver = true
    if !committed {
      writer {
        $0?.connection.rollBack()
        $0?.orderEnds.forgetAll()
      }
    }
    if let transaction { store.externalData.removeUnused(transaction.files, committed: committed) }
    writer.release()
  }
}

extension SQLiteStore {
  /// The conflicts, with the rows that other contexts saved, as the session reads them. Missing rows give conflicts
  /// without a row.
  fileprivate func findingRows(of conflicts: [SaveConflict], in session: Session) throws -> [SaveConflict] {
    let changed = conflicts.compactMap { if case .changed = $0.kind { $0.objectID } else { nil } }
    if changed.isEmpty { return conflicts }
    let rows = Dictionary(try snapshots(of: changed, in: session).map { ($0.id, $0) }) { first, _ in first }
    return conflicts.map { SaveConflict($0.objectID, $0.kind, foundRow: rows[$0.objectID]) }
  }
}
