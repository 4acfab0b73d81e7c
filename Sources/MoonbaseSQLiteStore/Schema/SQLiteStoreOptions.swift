public import MoonbaseSQL

/// The options for opening a SQLite store.
///
/// ```swift
/// let store = try SQLiteStore(url: url, model: resolved, options: SQLiteStoreOptions(readOnly: true))
/// ```
///
/// A value that is copied when a store opens; later changes have no effect. Command line tools and store descriptions
/// set the same properties by name.
public struct SQLiteStoreOptions: Sendable {
  /// Whether the file is only read. Nothing on disk changes then, write-ahead log included. Saves then fail with
  /// `.readOnlyStore`.
  public var readOnly: Bool
  /// The time that a statement waits for other processes before it fails with `.storeBusy`.
  public var busyTimeout: Duration
  /// Whether each save waits until it is safe on disk (`PRAGMA synchronous = FULL`). Otherwise the last saves may be
  /// lost in a power failure, as with Core Data (`NORMAL`). A save is never lost in part, and in rollback journal mode
  /// no save is lost.
  public var synchronizesFully: Bool
  /// Whether a store that CloudKit mirrors (tables `ANSCK*`) may be written. Otherwise it opens read-only.
  public var allowsCloudKit: Bool
  /// Whether history tables are made where the file has none. A file with these tables records history in any case.
  public var tracksHistory: Bool
  /// The author of new history transactions.
  public var transactionAuthor: String?
  /// The number of SQLite's virtual machine steps that the file's triggers may take in a save or another change, plus a
  /// million for each written row. Beyond it, after some seconds, the save fails with `.storeFailure`. `Int.max` means
  /// no limit.
  public var triggerStepLimit: Int
  /// The greatest number of bytes of the file that the writing connection keeps in memory; 32 MiB by default. It should
  /// hold all pages that a save changes, indexes included. A reading connection keeps an eighth, but at least SQLite's
  /// default of 2 MiB.
  public var cacheSize: Int
  /// The greatest number of connections that read at the same time. A further reader waits as long as `busyTimeout`
  /// says. Open cursors have four times as many connections of their own. Beyond these, a cursor reads all rows at
  /// once.
  public var readerLimit: Int
  /// The log that receives each statement after it has run. Nil, at no cost, for no log.
  public var sqlLog: SQLLog?

  /// Makes options. The defaults open for writing, and wait five seconds.
  public init(
    readOnly: Bool = false, busyTimeout: Duration = .seconds(5), synchronizesFully: Bool = false,
    allowsCloudKit: Bool = false,
    tracksHistory: Bool = false, transactionAuthor: String? = nil, triggerStepLimit: Int = 200_000_000,
    cacheSize: Int = 32 << 20, readerLimit: Int = 8,
    sqlLog: SQLLog? = nil
  ) {
    self.readOnly = readOnly
    self.busyTimeout = busyTimeout
    self.synchronizesFully = synchronizesFully
    self.allowsCloudKit = allowsCloudKit
    self.tracksHistory = tracksHistory
    self.transactionAuthor = transactionAuthor
    self.triggerStepLimit = triggerStepLimit
    self.cacheSize = cacheSize
    self.readerLimit = max(1, readerLimit)
    self.sqlLog = sqlLog
  }

  /// The cache size of a reading connection, in bytes. There may be several, and a walk over all rows reads each page
  /// once.
  var readerCacheSize: Int { min(cacheSize, max(cacheSize / 8, 2 << 20)) }
}
