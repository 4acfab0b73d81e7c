/// How a SQLite store is opened.
///
/// ```swift
/// let store = try SQLiteStore(url: url, model: resolved, options: SQLiteStoreOptions(readOnly: true))
/// ```
public struct SQLiteStoreOptions: Sendable {
  /// Whether the file is only read. Nothing on the disk changes then, write-ahead log included.
  public var readOnly: Bool
  /// How long a statement waits for other processes before it fails with `.storeBusy`, in milliseconds.
  public var busyTimeout: Int
  /// Whether a store that CloudKit mirrors (tables `ANSCK*`) may be written; otherwise it opens read-only.
  public var allowsCloudKit: Bool
  /// Whether the file is to have tables for a history: they are made where it has none. A file that has them gets a history in any case.
  public var keepsHistory: Bool
  /// The name that new history transactions bear as their author.
  public var transactionAuthor: String?
  /// What is told each statement that the store runs, when it has run; nil, which costs nothing, for nobody.
  public var sqlLog: SQLLog?

  /// Makes options; the defaults open for writing and wait five seconds.
  public init(
    readOnly: Bool = false, busyTimeout: Int = 5000, allowsCloudKit: Bool = false, keepsHistory: Bool = false,
    transactionAuthor: String? = nil, sqlLog: SQLLog? = nil
  ) {
    self.readOnly = readOnly
    self.busyTimeout = busyTimeout
    self.allowsCloudKit = allowsCloudKit
    self.keepsHistory = keepsHistory
    self.transactionAuthor = transactionAuthor
    self.sqlLog = sqlLog
  }
}
