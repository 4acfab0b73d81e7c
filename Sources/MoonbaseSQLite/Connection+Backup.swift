internal import MoonbaseCSQLite

/// How far a copy of a database is.
public struct CopyProgress: Sendable, Hashable {
  /// Pages that are copied.
  public var done: Int
  /// Pages in all.
  public var total: Int
}

extension Connection {
  /// Copies the whole database over another one, through SQLite's backup API: some pages at a time, after each of which `step` is told. What
  /// that throws ends the copy.
  ///
  /// Within a read transaction of this connection (`beginReading`) all pages are of one state, whatever others write. Without one SQLite begins
  /// anew where somebody wrote in between; after so many steps the rest is copied in one, which keeps writers waiting.
  public func copy(
    to other: Connection, pagesPerStep: Int32 = 1024, _ step: (CopyProgress) throws -> Void = { _ in }
  ) throws {
    guard let backup = sqlite3_backup_init(other.handle, "main", handle, "main") else {
      throw other.error(sqlite3_extended_errcode(other.handle), sql: nil)
    }
    defer { sqlite3_backup_finish(backup) }
    var steps = 0
    while true {
      // Four times the steps of the whole: others write all the time.
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
