public import MoonbaseGraph
import MoonbasePlatform
import MoonbaseSQLite

/// Watches the files of a store for what others write.
///
/// SQLite counts the commits of others for each connection (`PRAGMA data_version`): the store's writing connection is asked, which knows its
/// own. A store that is only read has no commits of its own, so that its files are looked at.
final class RemoteChangeWatch: Sendable {
  /// A file system may tell of nothing (one of another machine): so often the store is asked all the same.
  private static let greatestPause: Int32 = 1000
  /// A save touches its files several times.
  private static let settling: UInt32 = 20_000

  private let file: StoreFile
  private let last: Lock<[Int]>

  init(_ store: SQLiteStore) {
    file = store.file
    last = Lock(Self.mark(of: store) ?? [])
  }

  /// What others wrote since the last look; nil where they did not.
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

  /// Nil where nothing can be found out just now.
  private static func mark(of store: SQLiteStore) -> [Int]? {
    if store.isReadOnly { return store.file.footprint }
    return try? store.writable().withLock { try $0.map { [Int(try $0.connection.versionByOthers())] } }
  }

  /// Looks whenever a file of the store may have changed, on a thread of its own, until the events end or the store has gone.
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

extension SQLiteStore {
  /// Tells of what others write to the file, other processes and other stores of it in this one, from now on.
  ///
  /// The handler is called on a thread of the store's. Nil where the file's folder cannot be watched.
  public func observeRemoteChanges(
    _ handler: @escaping @Sendable (PersistentStoreRemoteChange) -> Void
  ) -> RemoteChangeObservation? {
    guard let events = FolderEvents(folder: file.truePath.folderOfPath) else { return nil }
    RemoteChangeWatch(self).run(self, events, handler)
    return RemoteChangeObservation { events.stop() }
  }
}
