#if PostgreSQL
  public import MoonbaseGraph
  import MoonbasePlatform

  extension PostgreSQLStore {
    /// The time between two queries, in microseconds.
    private static let pause: UInt32 = 250_000

    /// Notifies the handler of saves in the schema by other processes, and by other stores of this process. A thread of
    /// the store reads the records of their saves four times a second.
    public func observeRemoteChanges(
      _ handler: @escaping @Sendable (PersistentStoreRemoteChange) -> Void
    ) -> RemoteChangeObservation? {
      let hasEnded = Lock(false)
      let last = Lock(markOfOthers)
      let thread = Thread { [weak self] in
        while !hasEnded.withLock({ $0 }) {
          usleep(Self.pause)
          guard let self, !self.pool.isClosed else { return }
          // A server that is temporarily unreachable reports no changes.
          guard let mark = self.markOfOthers else { continue }
          let isNews = last.withLock { last in
            defer { last = mark }
            return last != nil && last != mark
          }
          if isNews, !hasEnded.withLock({ $0 }) { handler(self.news) }
        }
      }
      thread.name = "moonbase remote changes"
      thread.start()
      return RemoteChangeObservation { hasEnded.withLock { $0 = true } }
    }

    private var markOfOthers: [Int64]? { try? pool.reading { try record.markOfOthers(on: $0) } }

    private var news: PersistentStoreRemoteChange {
      let number = (try? history()).flatMap { try? $0.span().last }
      return PersistentStoreRemoteChange(
        storeID: identifier, url: url, historyToken: number.map { PersistentHistoryToken([identifier: $0]) })
    }
  }
#endif
