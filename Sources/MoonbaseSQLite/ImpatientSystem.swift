internal import MoonbaseCSQLite
internal import MoonbasePlatform

/// SQLite's file access (VFS) with short sleeps.
///
/// SQLite waits ten seconds for a writer that died in its first transaction before it reports an error for its log.
/// With this VFS the error is reported at once, and the caller can use another way.
public enum ImpatientSystem {
  /// The name for the parameter `vfs` of a URI; nil if it could not be made.
  public static let name: String? = make()

  /// In microseconds.
  private static let longestSleep: Int32 = 1000

  /// Registers a copy of the system's file access under another name.
  private static func make() -> String? {
    guard let original = sqlite3_vfs_find("unix"), let name = strdup("moonbase-impatient") else { return nil }
    // Never freed, because SQLite keeps it in its list.
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
