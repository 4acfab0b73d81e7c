import MoonbasePlatform

/// Hears of each statement a store runs, and of each step with a file of its values. Tests set it to assert SQL text,
/// the number of statements and what comes before what, and to have steps with files fail.
package final class StatementObserver: Sendable {
  private struct State {
    var count = 0
    var translationCount = 0
    var listener: (@Sendable (String) -> Void)?
    var fileListener: (@Sendable (FileStep, String) -> Int32)?
  }

  private let state = Lock(State())

  /// How many statements ran so far, on all connections.
  package var statementCount: Int { state.withLock { $0.count } }

  /// How many queries were translated into SQL so far.
  package var translationCount: Int { state.withLock { $0.translationCount } }

  /// Calls `body` with the text of each statement as it begins, from the thread that runs it.
  package func listen(_ body: (@Sendable (String) -> Void)?) { state.withLock { $0.listener = body } }

  /// What is done with the files of values: one is written, brought to the disk, removed; their names are brought there, or a commit is.
  package enum FileStep: Sendable {
    case write, synchronize, remove, synchronizeFolder, synchronizeCommit
  }

  /// Calls `body` before each step with the name of the file, empty for the folder and the commit. A number of `errno` other than 0 has
  /// the step fail.
  package func listenToFiles(_ body: (@Sendable (FileStep, String) -> Int32)?) {
    state.withLock { $0.fileListener = body }
  }

  /// The number of the error that a step is to fail with, or 0.
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
