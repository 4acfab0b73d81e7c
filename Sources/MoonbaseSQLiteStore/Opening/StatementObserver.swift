import MoonbasePlatform

/// Hears of each statement a store runs. Tests set it to assert SQL text and the number of statements.
package final class StatementObserver: Sendable {
  private struct State {
    var count = 0
    var translationCount = 0
    var listener: (@Sendable (String) -> Void)?
  }

  private let state = Lock(State())

  /// How many statements ran so far, on all connections.
  package var statementCount: Int { state.withLock { $0.count } }

  /// How many queries were translated into SQL so far.
  package var translationCount: Int { state.withLock { $0.translationCount } }

  /// Calls `body` with the text of each statement as it begins, from the thread that runs it.
  package func listen(_ body: (@Sendable (String) -> Void)?) { state.withLock { $0.listener = body } }

  func noteTranslation() { state.withLock { $0.translationCount += 1 } }

  func note(_ sql: String) {
    let listener = state.withLock { state in
      state.count += 1
      return state.listener
    }
    listener?(sql)
  }
}
