#if PostgreSQL
  package import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  extension PostgreSQLStore: StreamingStore {
    /// Whether a save takes rows as they come: neither history nor derived attributes need all rows at once.
    package func acceptsStreamedRows(in session: any SaveSession) throws -> Bool {
      !tracksHistory && derivations.isEmpty
    }
  }

  /// A save in PostgreSQL: a transaction at READ COMMITTED that checks the versions of the rows that it writes.
  ///
  /// Where the server aborts the transaction because of others (a deadlock), its steps run again from the beginning.
  final class PostgreSQLSaveSession: SaveSession {
    /// A part of the save. A step gets the session as an argument: a session that captured steps retain would never be
    /// released, and its lock with it.
    private typealias Step = (PostgreSQLSaveSession, PostgreSQLConnection) throws -> Void

    private let store: PostgreSQLStore
    private let author: String?
    private let turn: LockHold<Void>
    private var connection: PostgreSQLConnection?
    private(set) var derivedObjectIDs: [ManagedObjectID] = []
    private var steps: [Step] = []
    private var history: HistoryRecord?
    private var derivation: Derivation?
    private var isOver = false
    /// Whether the steps can run again. Rows that arrive during the save arrive once.
    private var isRepeatable = true

    private static let greatestAttempts = 10

    init(_ store: PostgreSQLStore, author: String?) throws {
      (self.store, self.author) = (store, author)
      if store.pool.isClosed { throw store.pool.closedError }
      turn = try store.saves.holdInTime()
      do {
        connection = try Self.begin(store.pool)
      } catch {
        turn.release()
        throw store.pool.failure.translate(error)
      }
    }

    deinit { abort() }

    /// A connection with an open transaction. A kept connection may turn out to be lost.
    private static func begin(_ pool: ConnectionPool) throws -> PostgreSQLConnection {
      while true {
        let connection = try pool.acquire()
        do {
          try connection.execute("BEGIN")
          return connection
        } catch let error as PostgreSQLError where error.isConnectionLost && connection.wasUsed {
          continue
        }
      }
    }

    func write(_ changes: StoreChanges) throws -> [SaveConflict] {
      var conflicts: [SaveConflict] = []
      isRepeatable = changes.following == nil
      try run { [store, author] session, connection in
        if store.tracksHistory {
          session.history = try HistoryRecord(changes, author: author, in: store, on: connection)
        }
        session.derivation = store.derivations.isEmpty ? nil : try Derivation(changes, in: store, on: connection)
        var writer = SaveWriter(changes, in: store, on: connection)
        conflicts = try writer.run()
      }
      return conflicts
    }

    /// Runs a batch request. Nil, with nothing written, where the graph has to execute the request.
    func run(_ change: SetChange) throws -> StoreBatchResult? {
      var result: StoreBatchResult?
      try run { _, connection in result = try change.run(on: connection) }
      return result
    }

    func metadata() throws -> [String: Value] {
      var values: [String: Value] = [:]
      try run { [store] _, connection in
        values = try StoreMetadata(connection, address: store.address, locking: true).foreignValues
      }
      return values
    }

    func setMetadata(_ metadata: [String: Value]) throws {
      try run { [store] _, connection in
        var current = try StoreMetadata(connection, address: store.address, locking: true)
        try current.replaceForeignEntries(with: metadata)
        try current.write(connection)
      }
    }

    func deleteHistory(_ extent: HistoryRange) throws -> Int {
      guard store.tracksHistory else { return 0 }
      var count = 0
      try run { _, connection in count = try HistoryReader.delete(extent, on: connection) }
      return count
    }

    func prepare() throws {
      try run { session, _ in session.derivedObjectIDs = try session.derivation?.run() ?? [] }
      guard store.tracksHistory else { return }
      // History numbers are assigned last, because other saves wait for theirs until the commit.
      try run { session, connection in try session.history?.write(on: connection) }
    }

    func commit() throws {
      guard let connection else { throw store.pool.closedError }
      let number = store.record.next()
      do {
        try connection.execute(store.record.commit(number))
      } catch let error as PostgreSQLError {
        guard error.isConnectionLost else {
          abort()
          throw store.pool.failure.translate(error)
        }
        self.connection = nil
        let isCommitted = try determineOutcome(number, after: error)
        end()
        if isCommitted { return }
        throw store.pool.failure.translate(error)
      }
      store.hint.send(on: connection)
      end()
    }

    func abort() { end() }

    private func end() {
      if isOver { return }
      isOver = true
      steps = []
      if let connection {
        if connection.isAlive, connection.isInTransaction { _ = try? connection.execute("ROLLBACK") }
        store.pool.giveBack(connection)
      }
      connection = nil
      turn.release()
    }

    // MARK: Attempts

    private func run(_ step: @escaping Step) throws {
      steps.append(step)
      do {
        try attempt(from: steps.count - 1)
      } catch {
        let failure = store.pool.failure.translate(error)
        end()
        throw failure
      }
    }

    /// Runs the last step, or all steps where the server aborted the transaction.
    private func attempt(from first: Int) throws {
      var first = first
      for number in 1... {
        guard let connection else { throw store.pool.closedError }
        do {
          for step in steps[first...] { try step(self, connection) }
          return
        } catch let error as PostgreSQLError
          where error.isRetryable && isRepeatable && number < Self.greatestAttempts
        {
          try connection.execute("ROLLBACK")
          try HostWork.pause(milliseconds: UInt32.random(in: 1...(4 << UInt32(min(number, 6)))))
          try connection.execute("BEGIN")
          first = 0
        }
      }
    }

    /// The longest wait for a server to return after a commit whose answer was lost.
    private static let patience = Duration.seconds(30)

    private func determineOutcome(_ number: Int64, after error: PostgreSQLError) throws -> Bool {
      let end = ContinuousClock.now + Self.patience
      while true {
        do {
          return try store.pool.reading { try store.record.isCommitted(number, on: $0) }
        } catch let other {
          guard ContinuousClock.now < end else {
            self.end()
            throw GraphError(
              .storeFailure,
              message: "\(store.address): the server went away while a save was committed, and did not come back in "
                + "\(Self.patience): whether it was saved is not known; look before you save again", underlying: other)
          }
          try HostWork.pause(milliseconds: 100)
        }
      }
    }
  }
#endif
