#if PostgreSQL
  public import MoonbaseGraph
  import MoonbasePlatform
  import MoonbasePostgreSQL

  extension PostgreSQLStore {
    /// Notifies the handler of saves in the schema by other processes, and by other stores of this process. A thread of
    /// the store reads the records of their saves four times a second, and after each notification of the server.
    public func observeRemoteChanges(
      _ handler: @escaping @Sendable (PersistentStoreRemoteChange) -> Void
    ) -> RemoteChangeObservation? {
      let hasEnded = Lock(false)
      let watch = SaveWatch(pool, record: record, hint: hint)
      let first = watch.look()
      let thread = Thread { [weak self] in
        var last = first
        while !hasEnded.withLock({ $0 }) {
          watch.wait()
          guard let self, !self.pool.isClosed else { return }
          // A server that is temporarily unreachable reports no changes.
          guard let mark = watch.look() else { continue }
          let isNews = last != nil && last != mark
          last = mark
          if isNews, !hasEnded.withLock({ $0 }) { handler(self.news) }
        }
      }
      thread.name = "moonbase remote changes"
      thread.start()
      return RemoteChangeObservation { hasEnded.withLock { $0 = true } }
    }

    private var news: PersistentStoreRemoteChange {
      let number = (try? history()).flatMap { try? $0.span().last }
      return PersistentStoreRemoteChange(
        storeID: identifier, url: url, historyToken: number.map { PersistentHistoryToken([identifier: $0]) })
    }
  }

  /// A connection that reads the records of saves.
  private final class SaveWatch: @unchecked Sendable {  // used by one thread at a time
    private let pool: ConnectionPool
    private let record: SaveRecord
    private let hint: SaveHint
    private var connection: PostgreSQLConnection?

    /// The time between two looks without a hint, in milliseconds.
    private static let pause: Int32 = 250

    init(_ pool: ConnectionPool, record: SaveRecord, hint: SaveHint) {
      (self.pool, self.record, self.hint) = (pool, record, hint)
    }

    /// Waits for a hint of the server, or until the next look is due.
    func wait() {
      guard let connection, connection.isAlive else {
        usleep(UInt32(Self.pause) * 1000)
        return
      }
      if connection.waitForNotification(milliseconds: Self.pause) { usleep(SaveHint.settling) }
    }

    /// The state of other stores' records. Nil where the server cannot be reached.
    func look() -> [Int64]? {
      do {
        let connection = try connection ?? pool.open()
        if self.connection == nil { hint.listen(on: connection) }
        self.connection = connection
        return try record.markOfOthers(on: connection)
      } catch {
        connection = nil
        return nil
      }
    }
  }
#endif
