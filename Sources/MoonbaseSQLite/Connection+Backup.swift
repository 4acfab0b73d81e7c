internal import MoonbaseCSQLite

/// The progress of copying a database.
public struct CopyProgress: Sendable, Hashable {
  /// The number of copied pages.
  public var done: Int
  /// The total number of pages.
  public var total: Int
}

extension Connection {
  /// Copies the whole database over another, with SQLite's backup API: some pages at a time, with a call of `step`
  /// after each. An error thrown by `step` ends the copy.
  ///
  /// Within a read transaction of this connection (`beginReading`) all pages have the same state, regardless of
  /// writers. Otherwise SQLite restarts after each write by others; after many restarts the rest is copied in a single
  /// step, which blocks writers.
  ///
  /// `pagesPerStep` bounds the time between two calls of `step`. The target must not be used meanwhile. Throws
  /// `SQLiteError` of the failing side.
  public func copy(
    to other: Connection, pagesPerStep: Int32 = 1024, _ step: (CopyProgress) throws -> Void = { _ in }
  ) throws {
    guard let backup = sqlite3_backup_init(other.handle, "main", handle, "main") else {
      throw other.error(sqlite3_extended_errcode(other.handle), sql: nil)
    }
    defer { sqlite3_backup_finish(backup) }
    var steps = 0
    while true {
      // More than four times the steps of a whole copy mean that others write constantly.
      let isPatient = steps <= 16 + 4 * Int(sqlite3_backup_pagecount(backup)) / Int(pagesPerStep)
      let code = sqlite3_backup_step(backup, isPatient ? pagesPerStep : -1)
      let (rest, total) = (Int(sqlite3_backup_remaining(backup)), Int(sqlite3_backup_pagecount(backup)))
      switch code {
      case SQLITE_DONE:
        try step(CopyProgress(done: total, total: total))
        return
      case SQLITE_OK:
        try step(CopyProgress(done: total - rest, total: total))
        steps += 1
      default: throw SQLiteError(.init(rawValue: code), message: String(cString: sqlite3_errstr(code)))
      }
    }
  }
}
