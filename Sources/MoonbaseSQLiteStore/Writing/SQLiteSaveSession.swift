import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// A save in a SQLite store: a transaction of the writing connection, whose lock the session holds.
///
/// A failure ends the transaction at once: explaining an error reads the file, and a transaction may block readers.
final class SQLiteSaveSession: SaveSession {
  let store: SQLiteStore
  private let author: String?
  private let writer: LockHold<Session?>
  private var transaction: SaveTransaction?
  private(set) var derivedObjectIDs: [ManagedObjectID] = []
  private var isOver = false
  /// The metadata read in this transaction. No other connection can change it meanwhile.
  private var readMetadata: StoreMetadata?

  init(_ store: SQLiteStore, author: String?) throws {
    (self.store, self.author) = (store, author)
    writer = try store.writable().holdInTime()
    try run { session in
      try store.ready(session)
      try session.connection.begin()
      try store.schema.check(session.connection)
      try session.connection.boundTriggers(to: store.options.triggerStepLimit)
      _ = session.derivedRows.take()
    }
  }

  deinit { end(committed: false) }

  func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64 {
    try run { try store.reserveKeys(for: entity, count: count, in: $0) } ?? 0
  }

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

  func metadata() throws -> [String: Value] {
    try run { try metadata($0).foreignValues } ?? [:]
  }

  private func metadata(_ session: Session) throws -> StoreMetadata {
    if let readMetadata { return readMetadata }
    let read = try StoreMetadata(session.connection, path: store.file.path)
    readMetadata = read
    return read
  }

  func setMetadata(_ metadata: [String: Value]) throws {
    try run { session in
      var current = try self.metadata(session)
      readMetadata = nil
      try current.replaceForeignEntries(with: metadata)
      try current.write(session.connection)
      if session.connection.changes == 0 { throw GraphError.ignored("the metadata", in: store.file.path) }
    }
  }

  func prepare() throws {
    try run { session in
      derivedObjectIDs = try store.derive(in: session)
      try transaction?.prepare()
    }
  }

  func commit() throws {
    try run { try $0.connection.commit() }
    end(committed: true)
  }

  func abort() { end(committed: false) }

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

  private func end(committed: Bool) {
    if isOver { return }
    isOver = true
    if !committed {
      writer {
        $0?.connection.rollBack()
        $0?.orderEnds.forgetAll()
      }
    }
    if let transaction { store.externalData.settle(transaction.files, committed: committed) }
    writer.release()
  }
}

extension SQLiteStore {
  /// The conflicts, with the rows that other contexts saved, as the session reads them.
  fileprivate func findingRows(of conflicts: [SaveConflict], in session: Session) throws -> [SaveConflict] {
    let changed = conflicts.compactMap { if case .changed = $0.kind { $0.objectID } else { nil } }
    if changed.isEmpty { return conflicts }
    let rows = Dictionary(try snapshots(of: changed, in: session).map { ($0.id, $0) }) { first, _ in first }
    return conflicts.map { SaveConflict($0.objectID, $0.kind, foundRow: rows[$0.objectID]) }
  }
}
