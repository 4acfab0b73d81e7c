import MoonbasePlatform

/// Reading connections: as many as threads read at once, a few of them kept.
final class SessionPool: Sendable {
  private static let kept = 4
  /// The pools of stores that are only read.
  private static let readOnlyPools = Lock<[WeakPool]>([])

  private struct WeakPool: Sendable {
    weak let pool: SessionPool?
  }

  private let idle = Lock<[Session]>([])
  private let open: @Sendable () throws -> Session

  init(isReadOnly: Bool, _ open: @escaping @Sendable () throws -> Session) {
    self.open = open
    guard isReadOnly else { return }
    Self.readOnlyPools.withLock { pools in
      pools.removeAll { $0.pool == nil }
      pools.append(WeakPool(pool: self))
    }
  }

  func withSession<Result>(_ body: (Session) throws -> Result) throws -> Result {
    let session = try idle.withLock { $0.popLast() } ?? open()
    defer {
      idle.withLock { if $0.count < Self.kept { $0.append(session) } }
    }
    return try body(session)
  }

  /// Closes the connections that are only read and not in use. SQLite shares the index of a write-ahead log among a
  /// process's connections to a file, read-only as the first one had it, and nobody could write.
  static func closeReadOnlySessions() {
    let pools = readOnlyPools.withLock { $0 }
    for pool in pools.compactMap(\.pool) { pool.idle.withLock { $0.removeAll() } }
  }
}
