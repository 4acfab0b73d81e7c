#if PostgreSQL
  public import MoonbaseSQL

  /// How a store in PostgreSQL is opened.
  public struct PostgreSQLStoreOptions: Sendable {
    /// Whether nothing is written.
    public var readOnly = false
    /// How long a statement waits for a row that another session has locked, and opening for a store that another process makes.
    public var busyTimeout = Duration.seconds(5)
    /// Whether the store keeps a history of what is saved in it; one that was made so keeps it whatever is said here.
    public var tracksHistory = false
    /// The name that the history has for saves of contexts without a `transactionAuthor`.
    public var transactionAuthor: String?
    /// How many connections are kept open for views of one state at most. Others read each call's own state.
    public var viewLimit = 16
    /// What is told each statement.
    public var sqlLog: SQLLog?

    /// The options of a store that is written.
    public init() {}
  }
#endif
