import MoonbaseModelFormats
public import MoonbasePlatform

extension ManagedObjectModel {
  /// Reads a model: `.xcdatamodeld`, `.xcdatamodel`, `.momd`, `.mom`, a Lua model file, or the cache in a store, which
  /// is a file or the address of a server.
  ///
  /// The form is recognised by content, not by name. Throws `ModelError` with file, line and element if the file does
  /// not exist, has no known form, or contains an error.
  public init(contentsOf url: URL) throws {
    if PersistentStoreDescription.isAddress(url.absoluteString) {
      self = try PersistentStoreDescription.postgreSQL(url).keptModel()
      return
    }
    // SQLite is tried first: closing a descriptor of a store that this process has open would release SQLite's locks on
    // it.
    if SQLiteStore.isDatabase(at: url) {
      self = try SQLiteStore.cachedModel(ofStoreAt: url)
      return
    }
    if SQLiteStore.isFileOfOpenStore(atPath: url.resolvingSymlinksInPath().path, writing: false) {
      throw ModelError(.cannotOpenFile, message: "\(url.relativePath) is a file of a store that is open, not a model")
    }
    let source = try ModelSource(contentsOf: url)
    if source.head.starts(with: Data("SQLite format 3\0".utf8)) {
      // SQLite does not recognise a damaged store; opening it throws an error that describes the damage.
      self = try SQLiteStore.cachedModel(ofStoreAt: url)
    } else {
      self = try ManagedObjectModel.read(source, readers: ManagedObjectModel.readers + [LuaModelFile()])
    }
  }
}
