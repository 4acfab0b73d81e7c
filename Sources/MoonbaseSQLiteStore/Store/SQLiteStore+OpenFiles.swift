import MoonbaseGraph
import MoonbasePlatform

extension SQLiteStore {
  /// Whether a path without symbolic links names a file of an open store of this process, or a folder whose move would
  /// also move one.
  ///
  /// Only the store may read such a file: opening and closing it elsewhere in the process releases SQLite's locks.
  /// Files in the store's support folder may be read. `path` is absolute. With `writing`, folders above the store and
  /// files that the store names count too.
  public static func isFileOfOpenStore(atPath path: String, writing: Bool) -> Bool {
    OpenStores.hold(path: path, writing: writing)
  }

  /// Whether a descriptor refers to a file of an open store of this process. Compares device and inode.
  public static func isFileOfOpenStore(descriptor: Int32) -> Bool { OpenStores.hold(descriptor: descriptor) }

  /// Ends reads, waits for a running save, and closes the files. Later requests to the store throw `.invalidRequest`.
  /// Closing the store again does nothing.
  public func close() {
    closing.close()
    readers.close()
    // The lock is free after the running save; saves that wait for the lock then fail.
    writer?.withLock { $0 = nil }
  }

  var closedError: GraphError { closing.error(file) }
}
