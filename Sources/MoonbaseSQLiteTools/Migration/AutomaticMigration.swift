import MoonbaseGraph
package import MoonbaseModel
package import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite
package import MoonbaseSQLiteStore

/// The migration of a store at its opening, as a store's description permits it.
package struct AutomaticMigration {
  /// Whether the mapping is inferred from the two models.
  package var infersMapping = true
  /// Whether values may be lost for which the newer model has no place.
  package var allowsLoss = false

  /// Describes a migration. The defaults infer the mapping and lose nothing.
  package init(infersMapping: Bool = true, allowsLoss: Bool = false) {
    (self.infersMapping, self.allowsLoss) = (infersMapping, allowsLoss)
  }

  /// Migrates a store that was refused for its version of the model.
  ///
  /// Throws the error of the refusal for a file that is only read, and for a store with only a configuration of this
  /// very model. Throws `.missingMappingModel` if no mapping may be inferred, and the errors of a migration.
  fileprivate func run(
    on file: StoreFile, to model: ResolvedModel, configuration: String?, because error: GraphError
  ) throws {
    guard file.isWritable else { throw error }
    guard infersMapping else {
      throw GraphError(
        .missingMappingModel,
        message: "\(file.path) is of another version of the model, and no mapping may be inferred "
          + "(shouldInferMappingModelAutomatically)", details: error.details, underlying: error)
    }
    // A file with only a configuration of this very model must be opened with that configuration.
    if configuration == nil, try file.settled({ try file.reading { try holdsConfiguration(of: model, $0, file) } }) {
      throw error
    }
    try StoreMigration(
      file: file, sources: [], stages: [model], configuration: configuration, allowsLoss: allowsLoss,
      permission: " (allowsMigrationLoss of the store's description, or moonbase migrate --allow-loss)"
    ).run()
  }

  private func holdsConfiguration(
    of model: ResolvedModel, _ connection: Connection, _ file: StoreFile
  ) throws -> Bool {
    let stored = try StoreMetadata(connection, path: file.path).hashes
    return model.description.configuration(of: stored.keys) != nil
      && stored.allSatisfy { model.versionHashes[$0.key] == $0.value }
  }
}

extension SQLiteStore {
  /// Opens a store, or makes one where there is no file. A store of another version of the model is migrated first,
  /// unless it is opened for reading only. Throws as the initializer does, and the errors of the migration.
  package static func open(
    url: URL, model: ResolvedModel, configuration: String? = nil, options: SQLiteStoreOptions = SQLiteStoreOptions(),
    migration: AutomaticMigration
  ) throws -> SQLiteStore {
    do {
      return try SQLiteStore(url: url, model: model, configuration: configuration, options: options)
    } catch let error as GraphError where error.code == .incompatibleVersionHash && !options.readOnly {
      let file = StoreFile(url: url, busyTimeout: options.busyTimeout)
      try migration.run(on: file, to: model, configuration: configuration, because: error)
      return try SQLiteStore(url: url, model: model, configuration: configuration, options: options)
    }
  }
}
