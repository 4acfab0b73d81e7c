import MoonbaseModel

extension PersistentStoreCoordinator {
  /// Copies all objects of a store into another one, of whichever kind, which takes its place here:
  /// `NSPersistentStoreCoordinator`'s `migratePersistentStore(_:to:options:type:)`.
  ///
  /// ```swift
  /// let file = try SQLiteStore(url: url, model: coordinator.model)
  /// try coordinator.migratePersistentStore(memory, to: file)
  /// ```
  ///
  /// The other store must be empty and hold the entities of all objects; metadata of the program's own go with them, a
  /// history does not. It gets all in one save, or nothing, and until then the store stays here. A SQLite store with a
  /// log writes rows while others are read; for another store all rows are in memory meanwhile. Saves into the store
  /// wait while this runs. A later save with rows that were read before throws the error of a store that is not open
  /// here. The store itself keeps what it has. IDs of objects become others: reset the contexts that have any, or let
  /// go of them.
  ///
  /// Throws `.invalidRequest` for a store that is not here, and for another one that is, or has objects;
  /// `.incompatibleSchema` where an entity has no place; and what the stores throw.
  public func migratePersistentStore(_ store: any PersistentStore, to other: any PersistentStore) throws {
    try require(store)
    if persistentStores.contains(where: { $0 === other }) {
      throw GraphError(
        .invalidRequest, message: "\(other.name) is open here already: migrate into a store that is not added yet")
    }
    // Who saves into it waits.
    let turn = store.isReadOnly ? nil : try store.beginSave(author: nil)
    defer { turn?.abort() }
    // Who had his turn before may have taken it away.
    try require(store)
    var copy = StoreCopy(of: store, to: other, model: model)
    try copy.run()
    try replace(store, by: other)
  }
}
