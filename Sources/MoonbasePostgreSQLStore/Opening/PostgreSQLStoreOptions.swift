#if PostgreSQL
  public import MoonbaseSQL

  /// The options for opening a store in PostgreSQL.
  public struct PostgreSQLStoreOptions: Sendable {
    /// Whether the store is only read.
    public var readOnly = false
    /// The time that a statement waits for a row that another session has locked, and that opening waits for another
    /// process that makes the store.
    public var busyTimeout = Duration.seconds(5)
    /// Whether a new store keeps a history. An existing history is kept in any case.
    public var tracksHistory = false
    /// The author in the history for saves of contexts without a `transactionAuthor`.
    public var transactionAuthor: String?
    /// The greatest number of connections for views with a consistent snapshot. Further views read the current state on
    /// each call.
    public var viewLimit = 16
    /// The log that receives each statement.
    public var sqlLog: SQLLog?

    /// The options for a store that is written.
    public init() {}
  }
#endif
