public import MoonbasePlatform
import MoonbaseSQLite
public import MoonbaseSQLiteStore

/// The progress of a backup.
///
/// A page is SQLite's unit of a file, usually 4096 bytes. The total may grow while a store is written.
public struct BackupProgress: Sendable, Hashable {
  /// The number of copied pages of the file.
  public let completedPageCount: Int
  /// The number of all pages of the file.
  public let totalPageCount: Int
}

/// Copies of a store in use.
extension SQLiteStore {
  /// Makes a copy of the store while it is in use, with its external files. The copy holds one consistent state,
  /// whatever is saved meanwhile.
  ///
  /// The copy appears under its name in one step, when all of it is on disk. A backup that fails, or whose process
  /// dies, leaves the place as it was. An existing file is an error, unless it is a store and `replacing` is true.
  ///
  /// `progress` is called repeatedly, also while the copy is checked. An error that it throws ends the backup, and so
  /// does the cancellation of the task. A copy that is damaged, or does not open as a store, is removed: the call then
  /// throws `.invalidStore`.
  ///
  /// ```swift
  /// try store.backUp(to: backupURL) { progress in
  ///   print("\(progress.completedPageCount) of \(progress.totalPageCount)")
  /// }
  /// ```
  ///
  /// The copy has the UUID of the store: a coordinator accepts only one of them. Throws as
  /// `replace(storeAt:withStoreFrom:)` does. A large file is copied in steps, so that `progress` can be shown.
  public func backUp(
    to url: URL, replacing: Bool = false, _ progress: (BackupProgress) throws -> Void = { _ in }
  ) throws {
    try Self.backUp(
      storeAt: file.url, to: url, replacing: replacing, busyTimeout: options.busyTimeout, progress)
  }

  /// Makes a copy of a store that is not open in this process. Like `backUp(to:replacing:)`, for a file that is opened
  /// only for the copy.
  public static func backUp(
    storeAt original: URL, to url: URL, replacing: Bool = false, busyTimeout: Duration? = nil,
    _ progress: (BackupProgress) throws -> Void = { _ in }
  ) throws {
    let source = StoreFile(url: original, busyTimeout: busyTimeout)
    let destination = try closedDestination(url, for: source)
    // Errors of a file that others write cause another attempt. An error of `progress` does not.
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
      // SQLite calls this every thousand steps, of which a second has very many.
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

  /// The longest time between two calls of `progress` while the copy is checked.
  private static var greatestSilence: Duration { .milliseconds(250) }

  /// Copies all pages. A file with a log is copied in one read transaction.
  private static func back(
    up connection: Connection, to path: String, _ progress: (CopyProgress) throws -> Void
  ) throws {
    let copy = try Connection(path)
    // The copy is synchronized to disk when it is complete.
    try copy.execute("PRAGMA synchronous = OFF")
    // A reader of a log does not block writers. Without a log each step lets writers in, and SQLite restarts the copy
    // after a write.
    let holdsState = connection.usesWriteAheadLog
    if holdsState { try connection.beginReading() }
    defer { if holdsState { connection.endReading() } }
    try connection.copy(to: copy, progress)
  }
}
