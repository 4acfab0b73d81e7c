import MoonbasePlatform

/// One opens a file at a time: a connection that only looks must not meet one that is about to write. Other files do not wait.
enum FileTurn {
  private struct Turn {
    var lock = Lock<Void>(())
    var users = 0
  }

  private static let turns = Lock<[String: Turn]>([:])

  /// Runs `body` alone among those who open the file of this path.
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
