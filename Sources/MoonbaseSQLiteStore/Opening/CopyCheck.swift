import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLite

/// Checks a copy of a store before it replaces another store: pages are copied as they are, including damaged ones.
///
/// Run on the finished copy, before it gets its final name. The integrity check reads every page, so its time grows
/// with the size of the file; it can be ended by `isEnded`.
struct CopyCheck {
  /// The store that was copied.
  let source: StoreFile
  /// Whether the copy is no longer wanted.
  let isEnded: () -> Bool

  /// Throws if SQLite finds the copy damaged, or if the copy would not open as a store. The thrown `.invalidStore`
  /// error names the source.
  func run(onCopyAt path: String) throws {
    do {
      try StoreFile(url: URL(fileURLWithPath: path)).reading { connection in
        connection.isCancelled = isEnded
        defer { connection.isCancelled = nil }
        try checkStructures(connection)
        try checkStore(connection)
      }
    } catch {
      // The copy is discarded, so errors name the store, which has the same damage.
      throw StoreFailure(path: source.path).translate(error)
    }
  }

  /// Runs SQLite's integrity check. Only the first finding is read.
  private func checkStructures(_ connection: Connection) throws {
    guard let line = try connection.text("PRAGMA integrity_check(1)"), line != "ok" else { return }
    throw GraphError(
      .invalidStore,
      message:
        "\(source.path) is damaged, and so would the copy be, which was not made (\(line)): restore the store from a backup, or have "
        + "SQLite's own shell recover it (.recover)")
  }

  /// Checks the copy against the model stored in it. Without a stored model there is nothing to check.
  private func checkStore(_ connection: Connection) throws {
    let metadata = try StoreMetadata(connection, path: source.path)
    let schema = try FileSchema(connection, path: source.path)
    guard let cache = try StoreContents.modelCache(connection, schema: schema),
      let carried = try? ManagedObjectModel(modelCache: cache).resolved()
    else { return }
    let entities = metadata.held(of: carried)
    let version = StoreMetadata.version(carried, entities: entities)
    guard version.isCompatible(withStored: metadata.hashes, cached: carried.version) else { return }
    _ = try StoreContents(connection, path: source.path, model: carried, entities: entities)
  }
}
