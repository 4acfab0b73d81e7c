public import MoonbaseGraph
public import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// Saves that read their rows from another store while they run.
extension SQLiteStore: StreamingStore {
  /// Whether a save may stream rows. The file needs a log, so that it can be read meanwhile, and must keep no history,
  /// which is written before the rows. The graph then reads rows from another store while it writes them here.
  package func acceptsStreamedRows(in session: any SaveSession) throws -> Bool {
    try (session as? SQLiteSaveSession)?.run {
      try $0.connection.usesWriteAheadLog && $0.historyForm(path: file.path) == nil
    } ?? false
  }
}

/// Saving, and writes with a transaction of their own.
extension SQLiteStore {
  /// Reserves consecutive keys, in a transaction of its own. The keys stay unused if the caller does not save.
  public func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64 {
    try writeTransaction { try reserveKeys(for: entity, count: count, in: $0) }
  }

  /// True: save sessions reserve keys in their transaction.
  public var reservesKeysInSaves: Bool { true }

  /// In the transaction of the session. Subentities share the keys of their root.
  func reserveKeys(for entity: ResolvedEntity, count: Int, in session: Session) throws -> Int64 {
    let root = try layout.layout(layout.model.entities[entity.root])
    return try KeyReservation(connection: session.connection, path: file.path).reserve(
      count, number: root.number, name: root.entity.name)
  }

  /// Begins a save. The author defaults to the option `transactionAuthor`.
  public func beginSave(author: String?) throws -> any SaveSession {
    try SQLiteSaveSession(self, author: author ?? options.transactionAuthor)
  }

  /// Runs `body` in a transaction of its own. Throws where the file was moved: the saved data could not be found again.
  /// An error rolls back.
  func writeTransaction<Result: Sendable>(_ body: (Session) throws -> Result) throws -> Result {
    try write { session in
      try session.connection.transaction {
        try schema.check(session.connection)
        try session.connection.boundTriggers(to: options.triggerStepLimit)
        _ = session.derivedRows.drainRows()
        return try body(session)
      }
    }
  }

  /// Computes derived attributes again after the transaction's writes. Returns the objects whose values changed.
  ///
  /// Throws `.numberTooLarge` or `.numberTooSmall` for a value that the attribute's type cannot hold: it could not be
  /// read again. Call this once, after all writes of the transaction.
  func derive(in session: Session) throws -> [ManagedObjectID] {
    try session.derivedColumns?.derive(on: session.connection, telling: session.derivedRows)
    for large in session.derivedRows.drainLarge() {
      guard let entity = layout.entity(number: large.row.entity)?.entity, let id = objectID(of: large.row),
        let misfit = entity.property(large.attribute)?.misfit(large.value, of: id)
      else { continue }
      throw misfit
    }
    return session.derivedRows.drainRows().compactMap(objectID(of:))
  }

  /// Nil for an unknown entity number.
  private func objectID(of row: DerivedRows.Row) -> ManagedObjectID? {
    layout.entity(number: row.entity).map { ManagedObjectID(store: number, entity: $0.entity.symbol, key: row.key) }
  }

  /// The integer that a query returns on the writing connection, for tests. Nil for a closed store or an empty result.
  package func writersAnswer(_ sql: String) throws -> Int64? {
    try writable().withLock { try $0?.connection.integer(sql) }
  }

  /// The observer of the store's statements.
  package var statements: StatementObserver { observer }
}
