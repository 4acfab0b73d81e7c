import MoonbasePlatform

/// Observes each statement that a store runs, and each step with an external file. Tests assert SQL text, the number of
/// statements and the order of steps, and make steps with files fail.
///
/// Belongs to a store and is shared by its connections; a lock protects its state. Without listeners it only counts.
package final class StatementObserver: Sendable {
  /// Read and written under the lock.
  private struct State {
    /// The number of statements.
    var count = 0
    /// The number of translations.
    var translationCount = 0
    /// Receives the text of each statement.
    var listener: (@Sendable (String) -> Void)?
    /// Receives each step with a file, and returns an `errno`.
    var fileListener: (@Sendable (FileStep, String) -> Int32)?
  }

  /// The counters and listeners.
  private let state = Lock(State())

  /// Makes an observer without listeners.
  package init() {}

  /// The number of statements that ran so far, on all connections. Statements of migrations and checks count if their
  /// connections are observed.
  package var statementCount: Int { state.withLock { $0.count } }

  /// The number of queries that were translated into SQL so far. A query from the cache of translated queries does not
  /// count.
  package var translationCount: Int { state.withLock { $0.translationCount } }

  /// Calls `body` with the text of each statement as it begins, on the thread that runs the statement. Pass nil to
  /// stop. The body must not use the store.
  package func listen(_ body: (@Sendable (String) -> Void)?) { state.withLock { $0.listener = body } }

  /// A step with external files: a file is written, synchronized or removed, the folder is synchronized, or a commit
  /// is.
  package enum FileStep: Sendable {
    case write, synchronize, remove, synchronizeFolder, synchronizeCommit
  }

  /// Calls `body` before each step with the name of the file, or an empty name for the folder and the commit. The step
  /// fails with the returned `errno` unless it is 0. Pass nil to stop.
  package func listenToFiles(_ body: (@Sendable (FileStep, String) -> Int32)?) {
    state.withLock { $0.fileListener = body }
  }

  /// The `errno` with which a step should fail, or 0. Calls the listener.
  func failure(of step: FileStep, _ name: String = "") -> Int32 { state.withLock { $0.fileListener }?(step, name) ?? 0 }

  /// Called by the translation of queries.
  func noteTranslation() { state.withLock { $0.translationCount += 1 } }

  /// Called as a statement begins.
  func note(_ sql: String) {
    let listener = state.withLock { state in
      state.count += 1
      return state.listener
    }
    listener?(sql)
  }
}
