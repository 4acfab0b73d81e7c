public import MoonbaseGraph
import MoonbasePlatform
import MoonbaseSQLite

/// Watches the files of a store for writes from elsewhere.
///
/// SQLite counts commits of other connections (`PRAGMA data_version`), so the store's writing connection can
/// distinguish its own commits. A read-only store has no commits, so its files are compared instead.
///
/// Owned by the thread that `run` starts, and by nobody else. The thread ends with the events, or with the store.
final class RemoteChangeWatch: Sendable {
  /// The milliseconds after which the store is checked even without events, since some file systems (such as network
  /// ones) send none. In milliseconds.
  private static let greatestPause: Int32 = 1000
  /// The microseconds to wait after an event, because a save touches its files several times. In microseconds.
  private static let settling: UInt32 = 20_000

  /// The watched file.
  private let file: StoreFile
  /// The mark at the last look.
  private let last: Lock<[Int]>

  /// Takes the present state as known.
  init(_ store: SQLiteStore) {
    file = store.file
    last = Lock(Self.mark(of: store) ?? [])
  }

  /// The change by other writers since the last call; nil if there is none. The token is nil for a store without a
  /// history.
  func look(at store: SQLiteStore) -> PersistentStoreRemoteChange? {
    guard let mark = Self.mark(of: store) else { return nil }
    let isNews = last.withLock { last in
      defer { last = mark }
      return last != mark
    }
    guard isNews else { return nil }
    let history = try? store.history()
    let number = history.flatMap { try? $0.span().last }
    return PersistentStoreRemoteChange(
      storeID: store.identifier, url: store.url,
      historyToken: number.map { PersistentHistoryToken([store.identifier: $0]) })
  }

  /// A value that changes with each write from elsewhere; nil if it cannot be determined now. For a writable store, the
  /// version by other connections; for a read-only one, sizes and times of the files.
  private static func mark(of store: SQLiteStore) -> [Int]? {
    if store.isReadOnly { return store.file.footprint }
    return try? store.writable().withLock { try $0.map { [Int(try $0.connection.versionByOthers())] } }
  }

  /// Checks for changes after each file event, on a separate thread, until the events end or the store is released.
  /// Holds the store only while it looks.
  func run(
    _ store: SQLiteStore, _ events: FolderEvents, _ handler: @escaping @Sendable (PersistentStoreRemoteChange) -> Void
  ) {
    let thread = Thread { [weak store] in
      while events.wait(milliseconds: Self.greatestPause) {
        usleep(Self.settling)
        guard let store else { return }
        if let change = self.look(at: store) { handler(change) }
      }
    }
    thread.name = "moonbase remote changes"
    thread.start()
  }
}

/// Observation of writes from elsewhere.
extension SQLiteStore {
  /// Calls `handler` for writes to the file by other processes, and by other stores of the file in this process.
  ///
  /// The handler is called on a thread of the store. Nil if the file's folder cannot be watched. Several commits in a
  /// short time may give one call. The observation ends when it is cancelled or released.
  public func observeRemoteChanges(
    _ handler: @escaping @Sendable (PersistentStoreRemoteChange) -> Void
  ) -> RemoteChangeObservation? {
    guard let events = FolderEvents(folder: file.truePath.folderOfPath) else { return nil }
    RemoteChangeWatch(self).run(self, events, handler)
    return RemoteChangeObservation { events.stop() }
  }
}
