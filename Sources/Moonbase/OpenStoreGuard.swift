public import MoonbaseLua
import MoonbaseSQLiteStore

/// Keeps scripts from the files of stores that the program has open: `state.openFiles(access, guardian: OpenStoreGuard())`.
public struct OpenStoreGuard: LuaFileGuard {
  /// Makes a guard for all stores of the process.
  public init() {}

  /// Whether it is a file of a store that is open, or a folder that holds one and would be moved.
  public func refuses(path: String, writing: Bool) -> Bool {
    SQLiteStore.isFileOfOpenStore(atPath: path, writing: writing)
  }

  /// Whether it is a file of a store that is open.
  public func refuses(descriptor: Int32) -> Bool { SQLiteStore.isFileOfOpenStore(descriptor: descriptor) }
}
