import MoonbasePlatform

/// Serializes opening of a file, because a connection that only reads must not meet one that is about to write.
/// Different files do not wait for each other.
///
/// A lock per file, kept as long as any opening uses or waits for it. SQLite's own locks do not protect this step,
/// since a process's locks do not exclude each other.
package enum FileOpeningLock {
  /// The lock of a file.
  private struct Turn {
    /// Held by the thread that opens the file.
    var lock = Lock<Void>(())
    /// The openings that hold or await the lock.
    var users = 0
  }

  /// The locks by path.
  private static let turns = Lock<[String: Turn]>([:])

  /// Runs `body` exclusively among openings of the file. Throws the errors of `body`. `path` is the true path, so that
  /// two names of a file share the lock.
  package static func withLock<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    let lock = enter(path)
    defer { leave(path) }
    var result: Result?
    try lock.withLock { _ in result = try body() }
    guard let result else { preconditionFailure("the body ran or threw") }
    return result
  }

  /// The lock of a file, which is kept until `leave`.
  private static func enter(_ path: String) -> Lock<Void> {
    turns.withLock { turns in
      turns[path, default: Turn()].users += 1
      return turns[path]?.lock ?? Lock<Void>(())
    }
  }

  /// Forgets the lock after its last user.
  private static func leave(_ path: String) {
    turns.withLock { turns in
      turns[path]?.users -= 1
      if turns[path]?.users == 0 { turns[path] = nil }
    }
  }
}
