import MoonbasePlatform

/// Hears of each statement a store runs, and of each file of its values that it brings to the disk. Tests set it to assert SQL text,
/// the number of statements and what comes before what.
package final class StatementObserver: Sendable {
  private struct State {
    var count = 0
    var translationCount = 0
    var listener: (@Sendable (String) -> Void)?
    var fileListener: (@Sendable (String) -> Void)?
  }

  private let state = Lock(State())

  /// How many statements ran so far, on all connections.
  package var statementCount: Int { state.withLock { $0.count } }

  /// How many queries were translated into SQL so far.
  package var translationCount: Int { state.withLock { $0.translationCount } }

  /// Calls `body` with the text of each statement as it begins, from the thread that runs it.
  package func listen(_ body: (@Sendable (String) -> Void)?) { state.withLock { $0.listener = body } }

  /// Calls `body` with the name of each file of a value when its bytes are on the disk, and with nothing when the names are.
  package func listenToFiles(_ body: (@Sendable (String) -> Void)?) { state.withLock { $0.fileListener = body } }

  func noteSynchronized(_ name: String) { state.withLock { $0.fileListener }?(name) }

  func noteTranslation() { state.withLock { $0.translationCount += 1 } }

  func note(_ sql: String) {
    let listener = state.withLock { state in
      state.count += 1
      return state.listener
    }
    listener?(sql)
  }
}
