#if PostgreSQL
  public import MoonbaseGraph
  import MoonbasePlatform

  extension PostgreSQLStore {
    /// So often the server is asked, in microseconds.
    private static let pause: UInt32 = 250_000

    /// Tells of what others save in the schema, other processes and other stores of it in this one, from now on: the notes of their saves are
    /// looked at four times a second, on a thread of the store's.
    public func observeRemoteChanges(
      _ handler: @escaping @Sendable (PersistentStoreRemoteChange) -> Void
    ) -> RemoteChangeObservation? {
      let hasEnded = Lock(false)
      let last = Lock(markOfOthers)
      let thread = Thread { [weak self] in
        while !hasEnded.withLock({ $0 }) {
          usleep(Self.pause)
          guard let self, !self.pool.isClosed else { return }
          // A server that is gone for a while has no news.
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
