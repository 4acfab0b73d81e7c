internal import MoonbaseCSQLite
internal import MoonbasePlatform

/// SQLite's own way to files, except that it hardly sleeps.
///
/// Reading beside a log whose writer died in its first transaction, SQLite waits ten seconds for a process that will
/// not come before it says so. Who opens a file with this learns it at once, and can go another way.
public enum ImpatientSystem {
  /// The name for the parameter `vfs` of a URI; nil where it could not be made.
  public static let name: String? = make()

  private static let longestSleep: Int32 = 1000

  private static func make() -> String? {
    guard let original = sqlite3_vfs_find("unix"), let name = strdup("moonbase-impatient") else { return nil }
    // Lives as long as the process: SQLite keeps it in its list.
    let copy = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    copy.initialize(to: original.pointee)
    copy.pointee.pNext = nil
    copy.pointee.zName = UnsafePointer(name)
    copy.pointee.xSleep = { _, microseconds in
      let pause = min(microseconds, ImpatientSystem.longestSleep)
      usleep(UInt32(max(pause, 0)))
      return pause
    }
    return sqlite3_vfs_register(copy, 0) == SQLITE_OK ? String(cString: name) : nil
  }
}
