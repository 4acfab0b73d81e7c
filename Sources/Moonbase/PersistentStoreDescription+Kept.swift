package import MoonbaseModel
import MoonbasePlatform

#if PostgreSQL
  import MoonbasePostgreSQLStore
#endif

/// Metadata and model of a store, read without opening the store.
extension PersistentStoreDescription {
  /// The metadata of the store, with its identifier as `NSStoreUUID`.
  package func keptMetadata() throws -> [String: Value] {
    if let url { return try SQLiteStore.metadata(ofStoreAt: url, busyTimeout: busyTimeout) }
    guard let address else { return [:] }
    #if PostgreSQL
      return try PostgreSQLStore.metadata(ofStoreAt: address, busyTimeout: busyTimeout)
    #else
      throw Self.withoutPostgreSQL
    #endif
  }

  /// The model in the store. Throws for a file of an old framework, which has no model.
  package func keptModel() throws -> ManagedObjectModel {
    if let url { return try SQLiteStore.cachedModel(ofStoreAt: url, busyTimeout: busyTimeout) }
    guard let address else { return ManagedObjectModel() }
    #if PostgreSQL
      return try PostgreSQLStore.cachedModel(ofStoreAt: address, busyTimeout: busyTimeout)
    #else
      throw Self.withoutPostgreSQL
    #endif
  }

  /// Whether the store has a model of its own.
  package func keepsModel() throws -> Bool {
    guard let url else { return true }
    return try SQLiteStore.modelCache(ofStoreAt: url, busyTimeout: busyTimeout) != nil
  }

  /// An address without a password, for messages.
  package static func shown(_ address: String) -> String {
    #if PostgreSQL
      return URL(string: address).flatMap { try? PostgreSQLAddress($0) }?.description ?? "the store's address"
    #else
      return "the store's address"
    #endif
  }
}
