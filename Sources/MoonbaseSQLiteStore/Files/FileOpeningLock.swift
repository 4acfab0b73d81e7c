import MoonbasePlatform

/// Serializes opening of a file, because a connection that only reads must not meet one that is about to write.
/// Different files do not wait for each other.
enum FileOpeningLock {
  private struct Turn {
    var lock = Lock<Void>(())
    var users = 0
  }

  private static let turns = Lock<[String: Turn]>([:])

  /// Runs `body` exclusively among openings of the file.
  static func take<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    let lock = enter(path)
    defer { leave(path) }
    var result: Result?
    try lock.withLock { _ in result = try body() }
    guard let result else { preconditionFailure("the body ran or threw") }
    return result
  }

  private static func enter(_ path: String) -> Lock<Void> {
    turns.withLock { turns in
      turns[path, default: Turn()].users += 1
      return turns[path]?.lock ?? Lock<Void>(())
    }
  }

  private static func leave(_ path: String) {
    turns.withLock { turns in
      turns[path]?.users -= 1
      if turns[path]?.users == 0 { turns[path] = nil }
    }
  }
}
