public import MoonbasePlatform
import MoonbaseSQLite

/// How far a backup is.
public struct BackupProgress: Sendable, Hashable {
  /// Pages of the file that are copied.
  public let completedPageCount: Int
  /// Pages of the file in all.
  public let totalPageCount: Int
}

extension SQLiteStore {
  /// Makes a copy of the store while it is in use: one state of it, whatever is saved meanwhile, with the values that it keeps in files of
  /// their own.
  ///
  /// The copy appears under its name in one step, when all of it is on the disk; a backup that fails, or whose process dies, leaves nothing there but
  /// what was there before. What is there already is an error, unless it is a store and `replacing` says that it may go. `progress` is told again and
  /// again, while the copy is looked at too; what it throws ends the backup. So does the cancellation of the task. A copy that is damaged, as the store is then, or
  /// does not open as a store, is not kept: that is `.invalidStore`.
  ///
  /// ```swift
  /// try store.backUp(to: backupURL) { progress in
  ///   print("\(progress.completedPageCount) of \(progress.totalPageCount)")
  /// }
  /// ```
  ///
  /// The copy has the UUID of the store: a coordinator takes only one of them. Throws as `replace(storeAt:withStoreFrom:)` does.
  public func backUp(
    to url: URL, replacing: Bool = false, _ progress: (BackupProgress) throws -> Void = { _ in }
  ) throws {
    try Self.backUp(
      storeAt: file.url, to: url, replacing: replacing, busyTimeout: options.busyTimeout, progress)
  }

  /// The same for a store of which only the file is known.
  public static func backUp(
    storeAt original: URL, to url: URL, replacing: Bool = false, busyTimeout: Duration? = nil,
    _ progress: (BackupProgress) throws -> Void = { _ in }
  ) throws {
    let source = StoreFile(url: original, busyTimeout: busyTimeout)
    let destination = try closedDestination(url, for: source)
    // A file that others write is tried again, whatever went wrong: not where the backup was told to end.
    var end: (any Error)?
    func tell(_ pages: CopyProgress) throws {
      do {
        try HostWork.charge(1000)
        if Task.isCancelled { throw CancellationError() }
        try progress(BackupProgress(completedPageCount: pages.done, totalPageCount: pages.total))
      } catch {
        end = error
        throw error
      }
    }
    try withoutActuallyEscaping(tell) { tell in
      var last: CopyProgress?
      var lastLook = ContinuousClock.now
      // Asked every thousand steps of SQLite's, of which a second has very many.
      func isEnded() -> Bool {
        guard let last, ContinuousClock.now - lastLook > greatestSilence else { return false }
        lastLook = ContinuousClock.now
        return (try? tell(last)) == nil
      }
      do {
        try StoreReplacement(source: source, destination: destination, replaces: replacing, isEnded: isEnded) {
          connection, copy in
          if let end { throw end }
          try back(up: connection, to: copy) {
            (last, lastLook) = ($0, .now)
            try tell($0)
          }
        }.run()
      } catch is CancellationError {
        throw end ?? CancellationError()
      }
    }
  }

  /// So long nobody is told anything while the copy is looked at.
  private static var greatestSilence: Duration { .milliseconds(250) }

  private static func back(
    up connection: Connection, to path: String, _ progress: (CopyProgress) throws -> Void
  ) throws {
    let copy = try Connection(path)
    // It is brought to the disk when it is complete.
    try copy.execute("PRAGMA synchronous = OFF")
    // Beside a log nobody waits for who reads. Without one each step lets writers in, and SQLite sees to it that the state is one.
    let holdsState = connection.usesWriteAheadLog
    if holdsState { try connection.beginReading() }
    defer { if holdsState { connection.endReading() } }
    try connection.copy(to: copy, progress)
  }
}
