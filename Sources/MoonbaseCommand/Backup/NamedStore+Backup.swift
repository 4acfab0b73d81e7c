import Moonbase
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools

extension NamedStore {
  /// Copies one state of the store into a file that is the same store.
  ///
  /// - Parameters:
  ///   - url: The location of the file.
  ///   - replacing: Whether a store that is there is replaced.
  ///   - busyTimeout: The time to wait for other processes.
  ///   - progress: Called after each part of a file. An error that it throws ends the copy.
  /// - Throws: `.invalidRequest` for a file that is there, and the errors of reading the store.
  func backUp(
    to url: URL, replacing: Bool, busyTimeout: Duration? = nil, _ progress: (BackupProgress) throws -> Void = { _ in }
  ) throws {
    guard isOnServer else {
      return try SQLiteStore.backUp(
        storeAt: URL(literalPath: path), to: url, replacing: replacing, busyTimeout: busyTimeout, progress)
    }
    let store = description(busyTimeout: busyTimeout)
    #if PostgreSQL
      let migration = try ServerMigration(of: store, at: address)
      let watch = EndingWatch("\(url.relativePath) was not made") { [leftovers = migration.leftovers] in
        leftovers.discard()
      }
      defer { watch.end() }
      try migration.backUp(to: url, replacing: replacing)
    #else
      // Throws, because this build opens no address.
      _ = try store.keptMetadata()
    #endif
  }
}
