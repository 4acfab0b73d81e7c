#if PostgreSQL
  import MoonbasePlatform
  import MoonbasePostgreSQL

  /// Hints of saves between the processes of a store, by `NOTIFY`.
  ///
  /// A hint only shortens the time until a process looks at the records of saves. Servers and poolers without
  /// notifications lose hints, and no save. A hint follows the commit, because the server lets transactions with a
  /// `NOTIFY` commit one after the other.
  final class SaveHint: Sendable {
    private let channel: String
    private let last = Lock<ContinuousClock.Instant?>(nil)

    /// The least time between two hints of a store.
    private static let pause = Duration.milliseconds(20)
    /// The time between a hint and the reading of the records, in microseconds. The time is longer than `pause`, so
    /// that the reading finds the saves for which no hint was sent.
    static let settling: UInt32 = 25_000

    init(storeID: String) { channel = "moonbase_\(storeID)" }

    /// Tells other processes of a save that is committed.
    func send(on connection: PostgreSQLConnection) {
      let isDue = last.withLock { last in
        let now = ContinuousClock.now
        if let last, now - last < Self.pause { return false }
        last = now
        return true
      }
      if isDue { _ = try? connection.execute("NOTIFY \(quoted(channel))") }
    }

    /// Listens to the hints of other processes, where the server lets it.
    func listen(on connection: PostgreSQLConnection) { _ = try? connection.execute("LISTEN \(quoted(channel))") }
  }
#endif
