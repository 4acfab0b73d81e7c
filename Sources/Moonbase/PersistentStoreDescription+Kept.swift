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

  /// Whether there is no store yet, so that one may be made there.
  package func isBare() throws -> Bool {
    if let url { return try SQLiteStore.isBare(at: url, busyTimeout: busyTimeout) }
    guard let address else { return true }
    #if PostgreSQL
      return try PostgreSQLStore.isBare(at: address, busyTimeout: busyTimeout)
    #else
      throw Self.withoutPostgreSQL
    #endif
  }

  /// Whether there is no file, or no store in the schema of an address. False for a store in memory.
  package func isMissing() throws -> Bool {
    if let url { return access(url.pathAsGiven, F_OK) != 0 && errno == ENOENT }
    return try address != nil && isBare()
  }

  /// The path as it was given, or the address without a password, for messages.
  package var name: String { path ?? address.map { Self.shown($0.absoluteString) } ?? "the store in memory" }

  /// The name of the schema of a store on a server.
  package func schemaName() throws -> String {
    #if PostgreSQL
      return try address.map { try PostgreSQLAddress($0).schema } ?? ""
    #else
      throw Self.withoutPostgreSQL
    #endif
  }

  /// An address without a password, for messages.
  package static func shown(_ address: String) -> String {
    #if PostgreSQL
      return PersistentStoreDescription.address(address).flatMap { try? PostgreSQLAddress($0) }?.description
        ?? "the store's address"
    #else
      return "the store's address"
    #endif
  }
}
