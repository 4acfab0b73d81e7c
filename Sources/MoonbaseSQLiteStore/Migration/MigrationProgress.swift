import MoonbasePlatform
import MoonbaseSQLite

/// How far a migration has come, and whether it is still wanted.
final class MigrationProgress {
  private let progress: Progress?
  /// Told before each step of a migration, for tests in which one fails.
  private let onStep: ((String) throws -> Void)?

  init(_ progress: Progress?, onStep: ((String) throws -> Void)? = nil) {
    (self.progress, self.onStep) = (progress, onStep)
  }

  /// There are so many rows to go through. They are counted, copied once as they are, and once as they are to be; by a mapping model they are
  /// connected and checked besides.
  func begin(_ rows: Int, passes: Int = 2) {
    progress?.totalUnitCount = Int64(passes * max(rows, 1))
    progress?.completedUnitCount = 0
  }

  /// Before a step. Throws `CancellationError` where the progress or the task was cancelled.
  func step(_ name: String) throws {
    if progress?.isCancelled == true || Task.isCancelled { throw CancellationError() }
    try onStep?(name)
  }

  func finish(_ rows: Int) { progress?.completedUnitCount += Int64(rows) }

  func finish() { progress.map { $0.completedUnitCount = $0.totalUnitCount } }

  /// Has statements of a connection end in their midst when the progress is cancelled.
  func watch(_ connection: Connection) {
    guard let progress else { return }
    connection.isCancelled = { progress.isCancelled }
  }
}
