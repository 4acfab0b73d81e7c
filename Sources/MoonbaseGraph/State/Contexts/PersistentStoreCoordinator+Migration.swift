import MoonbaseModel

extension PersistentStoreCoordinator {
  /// Copies all objects of a store into another store of any type, which replaces it in the coordinator
  /// (`migratePersistentStore(_:to:options:type:)` of Core Data).
  ///
  /// ```swift
  /// let file = try SQLiteStore(url: url, model: coordinator.model)
  /// try coordinator.migratePersistentStore(memory, to: file)
  /// ```
  ///
  /// The other store must be empty and hold the entities of all objects. The program's metadata is copied, the history
  /// is not. All objects are written in one save, or none; until then the first store stays in the coordinator. A
  /// SQLite store with a write-ahead log, and one in PostgreSQL, write rows while others are read; for other stores all
  /// rows are in memory meanwhile. Saves into the first store wait. A later save of rows that were read before throws
  /// the error of a store that is not open here. The first store's data stays unchanged. Object IDs change, so reset or
  /// release contexts that have objects of the store.
  ///
  /// Throws `.invalidRequest` if the store is not in the coordinator, or the other store is or has objects;
  /// `.incompatibleSchema` if an entity has no place; and the errors of the stores.
  public func migratePersistentStore(_ store: any PersistentStore, to other: any PersistentStore) throws {
    try require(store)
    if persistentStores.contains(where: { $0 === other }) {
      throw GraphError(
        .invalidRequest, message: "\(other.name) is open here already: migrate into a store that is not added yet")
    }
    // Makes other saves into the store wait.
    let turn = store.isReadOnly ? nil : try store.beginSave(author: nil)
    defer { turn?.abort() }
    // The store may have been removed while this call waited.
    try require(store)
    var copy = StoreCopy(of: store, to: other, model: model)
    try copy.run()
    try replace(store, by: other)
  }
}
