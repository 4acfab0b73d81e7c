public import MoonbasePlatform

extension ManagedObjectModel {
  /// Reads a model: `.xcdatamodeld`, `.xcdatamodel`, `.momd`, `.mom`, a Lua model file, or the cache in a store.
  ///
  /// The form is recognised by content, not by name. Throws `ModelError` with file, line and element where the file is not
  /// there, of no known form, or wrong.
  public init(contentsOf url: URL) throws {
    let source = try ModelSource(contentsOf: url)
    if source.head.starts(with: Data("SQLite format 3\0".utf8)) {
      self = try SQLiteStore.cachedModel(ofStoreAt: url)
    } else {
      self = try ManagedObjectModel.read(source, readers: ManagedObjectModel.readers + [LuaModelFile()])
    }
  }
}
