public import MoonbaseSQL

/// How a SQLite store is opened.
///
/// ```swift
/// let store = try SQLiteStore(url: url, model: resolved, options: SQLiteStoreOptions(readOnly: true))
/// ```
public struct SQLiteStoreOptions: Sendable {
  /// Whether the file is only read. Nothing on the disk changes then, write-ahead log included.
  public var readOnly: Bool
  /// How long a statement waits for other processes before it fails with `.storeBusy`.
  public var busyTimeout: Duration
  /// Whether each save is on the disk for good before it is done (`PRAGMA synchronous = FULL`). Otherwise a machine that loses power may lose
  /// the last saves, as with Core Data (`NORMAL`); never a part of one, and beside a rollback journal none.
  public var synchronizesFully: Bool
  /// Whether a store that CloudKit mirrors (tables `ANSCK*`) may be written; otherwise it opens read-only.
  public var allowsCloudKit: Bool
  /// Whether the file is to have tables for a history: they are made where it has none. A file that has them gets a history in any case.
  public var tracksHistory: Bool
  /// The name that new history transactions bear as their author.
  public var transactionAuthor: String?
  /// Whether a store of another version of the model is migrated when it is opened for writing; otherwise it is refused.
  public var shouldMigrateStoreAutomatically: Bool
  /// Whether the mapping of such a migration is inferred from the two models.
  public var shouldInferMappingModelAutomatically: Bool
  /// Whether such a migration may lose what rows have and the newer model has no place for; otherwise it is refused, with what would be lost.
  public var allowsMigrationLoss: Bool
  /// How many of SQLite's own steps the triggers of the file may take in one save, or one other change, and a million more for each row that
  /// it writes: a trigger that goes on and on fails the save with `.storeFailure`, after some seconds. `Int.max` is no bound.
  public var triggerStepLimit: Int
  /// How many bytes of the file the connection that writes keeps in memory at most; 32 MiB unless said otherwise. The
  /// pages that one save changes should fit, those of indexes too. A connection that reads keeps an eighth of that,
  /// but at least the two megabytes that are SQLite's own default.
  public var cacheSize: Int
  /// How many connections read at the same time at most. A further reader waits for one, as long as `busyTimeout` says.
  /// Walks that a program keeps have four times as many connections of their own. A further walk reads all rows at
  /// once.
  public var readerLimit: Int
  /// What is told each statement that the store runs, when it has run; nil, which costs nothing, for nobody.
  public var sqlLog: SQLLog?

  /// Makes options; the defaults open for writing, wait five seconds and migrate nothing.
  public init(
    readOnly: Bool = false, busyTimeout: Duration = .seconds(5), synchronizesFully: Bool = false,
    allowsCloudKit: Bool = false,
    tracksHistory: Bool = false, transactionAuthor: String? = nil, shouldMigrateStoreAutomatically: Bool = false,
    shouldInferMappingModelAutomatically: Bool = true, allowsMigrationLoss: Bool = false,
    triggerStepLimit: Int = 200_000_000, cacheSize: Int = 32 << 20, readerLimit: Int = 8,
    sqlLog: SQLLog? = nil
  ) {
    self.readOnly = readOnly
    self.busyTimeout = busyTimeout
    self.synchronizesFully = synchronizesFully
    self.allowsCloudKit = allowsCloudKit
    self.tracksHistory = tracksHistory
    self.transactionAuthor = transactionAuthor
    self.shouldMigrateStoreAutomatically = shouldMigrateStoreAutomatically
    self.shouldInferMappingModelAutomatically = shouldInferMappingModelAutomatically
    self.allowsMigrationLoss = allowsMigrationLoss
    self.triggerStepLimit = triggerStepLimit
    self.cacheSize = cacheSize
    self.readerLimit = max(1, readerLimit)
    self.sqlLog = sqlLog
  }

  /// The bytes of a connection that reads. There may be several, and a walk over all rows comes to each page once.
  var readerCacheSize: Int { min(cacheSize, max(cacheSize / 8, 2 << 20)) }
}
