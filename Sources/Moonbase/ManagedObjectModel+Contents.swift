import MoonbaseModelFormats
public import MoonbasePlatform

extension ManagedObjectModel {
  /// Reads a model: `.xcdatamodeld`, `.xcdatamodel`, `.momd`, `.mom`, a Lua model file, or the cache in a store.
  ///
  /// The form is recognised by content, not by name. Throws `ModelError` with file, line and element where the file is not
  /// there, of no known form, or wrong.
  public init(contentsOf url: URL) throws {
    // SQLite is asked first: to close a descriptor of a store that this process has open would drop SQLite's locks on it.
    if SQLiteStore.isDatabase(at: url) {
      self = try SQLiteStore.cachedModel(ofStoreAt: url)
      return
    }
    if SQLiteStore.isFileOfOpenStore(atPath: url.resolvingSymlinksInPath().path, writing: false) {
      throw ModelError(.cannotOpenFile, message: "\(url.relativePath) is a file of a store that is open, not a model")
    }
    let source = try ModelSource(contentsOf: url)
    if source.head.starts(with: Data("SQLite format 3\0".utf8)) {
      // One so damaged that SQLite does not know it: the error says what is wrong.
      self = try SQLiteStore.cachedModel(ofStoreAt: url)
    } else {
      self = try ManagedObjectModel.read(source, readers: ManagedObjectModel.readers + [LuaModelFile()])
    }
  }
}
