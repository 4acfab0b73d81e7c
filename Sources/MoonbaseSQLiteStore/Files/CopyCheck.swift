import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLite

/// Looks at a copy of a store before it takes the place of another one: pages are copied as they are, damaged ones too.
struct CopyCheck {
  let source: StoreFile
  /// Whether nobody wants the copy any more.
  let isEnded: () -> Bool

  /// Throws where SQLite finds the copy damaged, and where it would not open as a store.
  func run(onCopyAt path: String) throws {
    do {
      try StoreFile(url: URL(fileURLWithPath: path)).reading { connection in
        connection.isCancelled = isEnded
        defer { connection.isCancelled = nil }
        try checkStructures(connection)
        try checkStore(connection)
      }
    } catch {
      // The copy goes: what is wrong with it is wrong with the store.
      throw StoreFailure(path: source.path).translate(error)
    }
  }

  private func checkStructures(_ connection: Connection) throws {
    guard let line = try connection.text("PRAGMA integrity_check(1)"), line != "ok" else { return }
    throw GraphError(
      .invalidStore,
      message:
        "\(source.path) is damaged, and so would the copy be, which was not made (\(line)): restore the store from a backup, or have "
        + "SQLite's own shell recover it (.recover)")
  }

  /// With the model that the store carries; without one there is none to open it with.
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
