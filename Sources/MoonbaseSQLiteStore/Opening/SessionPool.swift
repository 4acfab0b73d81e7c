import MoonbasePlatform

/// Reading connections: as many as threads read at once, a few of them kept.
final class SessionPool: Sendable {
  private static let kept = 4

  private let idle = Lock<[Session]>([])
  private let open: @Sendable () throws -> Session

  init(_ open: @escaping @Sendable () throws -> Session) { self.open = open }

  func withSession<Result>(_ body: (Session) throws -> Result) throws -> Result {
    let session = try idle.withLock { $0.popLast() } ?? open()
    defer {
      idle.withLock { if $0.count < Self.kept { $0.append(session) } }
    }
    return try body(session)
  }
}
