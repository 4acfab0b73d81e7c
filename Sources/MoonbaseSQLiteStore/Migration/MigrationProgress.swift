import MoonbasePlatform
import MoonbaseSQLite

/// The progress and cancellation of a migration.
final class MigrationProgress {
  private let progress: Progress?
  /// Called before each step of a migration, for tests in which a step fails.
  private let onStep: ((String) throws -> Void)?

  init(_ progress: Progress?, onStep: ((String) throws -> Void)? = nil) {
    (self.progress, self.onStep) = (progress, onStep)
  }

  /// Begins with the number of rows. They are counted, copied unchanged, and converted; with a mapping model they are
  /// also connected and validated.
  func begin(_ rows: Int, passes: Int = 2) {
    progress?.totalUnitCount = Int64(passes * max(rows, 1))
    progress?.completedUnitCount = 0
  }

  /// Reports a step before it begins. Throws `CancellationError` if the progress or the task was cancelled.
  func step(_ name: String) throws {
    if progress?.isCancelled == true || Task.isCancelled { throw CancellationError() }
    try onStep?(name)
  }

  func finish(_ rows: Int) { progress?.completedUnitCount += Int64(rows) }

  func finish() { progress.map { $0.completedUnitCount = $0.totalUnitCount } }

  /// Makes running statements of a connection end when the progress is cancelled.
  func watch(_ connection: Connection) {
    guard let progress else { return }
    connection.isCancelled = { progress.isCancelled }
  }
}
