package import MoonbasePlatform
package import MoonbaseSQLite
import MoonbaseSQLiteStore

/// The progress and cancellation of a migration.
///
/// An object, because the steps of one migration share it. A unit is one row in one pass. `watch` reaches long SQL
/// statements, which cannot check for a cancellation themselves.
package final class MigrationProgress {
  /// The progress of the caller; nil if nobody watches.
  private let progress: Progress?
  /// Called before each step of a migration, for tests in which a step fails.
  private let onStep: ((String) throws -> Void)?

  /// A nil `progress` still reacts to a cancelled task.
  package init(_ progress: Progress?, onStep: ((String) throws -> Void)? = nil) {
    (self.progress, self.onStep) = (progress, onStep)
  }

  /// Begins with the number of rows. They are counted, copied unchanged, and converted; with a mapping model they are
  /// also connected and validated.
  package func begin(_ rows: Int, passes: Int = 2) {
    progress?.totalUnitCount = Int64(passes * max(rows, 1))
    progress?.completedUnitCount = 0
  }

  /// Reports a step before it begins. Throws `CancellationError` if the progress or the task was cancelled. Also calls
  /// `onStep`. Step names are `copy`, `tables`, `rows of Person`, `relationships`, `indexes`, `numbers` and `swap`.
  package func step(_ name: String) throws {
    if progress?.isCancelled == true || Task.isCancelled { throw CancellationError() }
    try onStep?(name)
  }

  /// Adds `rows` finished units.
  package func finish(_ rows: Int) { progress?.completedUnitCount += Int64(rows) }

  /// Sets the progress to its end.
  package func finish() { progress.map { $0.completedUnitCount = $0.totalUnitCount } }

  /// Makes running statements of a connection end when the progress is cancelled.
  package func watch(_ connection: Connection) {
    guard let progress else { return }
    connection.isCancelled = { progress.isCancelled }
  }
}
