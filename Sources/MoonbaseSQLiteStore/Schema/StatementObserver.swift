import MoonbasePlatform

/// Observes each statement that a store runs, and each step with an external file. Tests assert SQL text, the number of
/// statements and the order of steps, and make steps with files fail.
package final class StatementObserver: Sendable {
  private struct State {
    var count = 0
    var translationCount = 0
    var listener: (@Sendable (String) -> Void)?
    var fileListener: (@Sendable (FileStep, String) -> Int32)?
  }

  private let state = Lock(State())

  /// The number of statements that ran so far, on all connections.
  package var statementCount: Int { state.withLock { $0.count } }

  /// The number of queries that were translated into SQL so far.
  package var translationCount: Int { state.withLock { $0.translationCount } }

  /// Calls `body` with the text of each statement as it begins, on the thread that runs the statement.
  package func listen(_ body: (@Sendable (String) -> Void)?) { state.withLock { $0.listener = body } }

  /// A step with external files: a file is written, synchronized or removed, the folder is synchronized, or a commit
  /// is.
  package enum FileStep: Sendable {
    case write, synchronize, remove, synchronizeFolder, synchronizeCommit
  }

  /// Calls `body` before each step with the name of the file, or an empty name for the folder and the commit. The step
  /// fails with the returned `errno` unless it is 0.
  package func listenToFiles(_ body: (@Sendable (FileStep, String) -> Int32)?) {
    state.withLock { $0.fileListener = body }
  }

  /// The `errno` with which a step should fail, or 0.
  func failure(of step: FileStep, _ name: String = "") -> Int32 { state.withLock { $0.fileListener }?(step, name) ?? 0 }

  func noteTranslation() { state.withLock { $0.translationCount += 1 } }

  func note(_ sql: String) {
    let listener = state.withLock { state in
      state.count += 1
      return state.listener
    }
    listener?(sql)
  }
}
