import MoonbasePlatform

/// Hears of each statement a store runs. Tests set it to assert SQL text and the number of statements.
package final class StatementObserver: Sendable {
  private let listener = Lock<(@Sendable (String) -> Void)?>(nil)
  private let count = Lock(0)

  /// How many statements ran so far, on all connections.
  package var statementCount: Int { count.withLock { $0 } }

  /// Calls `body` with the text of each statement as it begins, from the thread that runs it.
  package func listen(_ body: (@Sendable (String) -> Void)?) { listener.withLock { $0 = body } }

  func note(_ sql: String) {
    count.withLock { $0 += 1 }
    listener.withLock { $0 }?(sql)
  }
}
