public import MoonbaseLua
import MoonbaseSQLiteStore

/// Prevents scripts from opening files of open stores: `state.openFiles(access, guardian: OpenStoreGuard())`.
public struct OpenStoreGuard: LuaFileGuard {
  /// Makes a guard for all stores of the process.
  public init() {}

  /// Whether the path is a file of an open store, or a folder with such a file that would be moved.
  public func refuses(path: String, writing: Bool) -> Bool {
    SQLiteStore.isFileOfOpenStore(atPath: path, writing: writing)
  }

  /// Whether the descriptor belongs to a file of an open store.
  public func refuses(descriptor: Int32) -> Bool { SQLiteStore.isFileOfOpenStore(descriptor: descriptor) }
}
