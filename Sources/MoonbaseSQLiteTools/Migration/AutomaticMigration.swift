package import MoonbaseGraph
package import MoonbaseModel
package import MoonbasePlatform
import MoonbaseSQL
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
    let hashes = try file.settled { try file.reading { try StoreMetadata($0, path: file.path).hashes } }
    try check(file.path, of: hashes, model, configuration: configuration, because: error)
    try StoreMigration(
      file: file, sources: [], stages: [model], configuration: configuration, allowsLoss: allowsLoss,
      permission: Self.permission
    ).run()
  }

  /// Throws where a store that was refused for its version of the model is not migrated.
  ///
  /// - Parameters:
  ///   - name: The store, for messages.
  ///   - hashes: The version hashes of the store's entities.
  ///   - model: The model to migrate to.
  ///   - configuration: The configuration with which the store was to be opened, or nil.
  ///   - error: The error of the refusal.
  /// - Throws: `.missingMappingModel` if no mapping may be inferred, and the error of the refusal for a store with only
  ///   a configuration of this very model.
  package func check(
    _ name: String, of hashes: [String: Data], _ model: ResolvedModel, configuration: String?, because error: GraphError
  ) throws {
    guard infersMapping else {
      throw GraphError(
        .missingMappingModel,
        message: "\(name) is of another version of the model, and no mapping may be inferred "
          + "(shouldInferMappingModelAutomatically)", details: error.details, underlying: error)
    }
    // A store with only a configuration of this very model must be opened with that configuration.
    let isOfModel = hashes.allSatisfy { model.versionHashes[$0.key] == $0.value }
    if configuration == nil, isOfModel, model.description.configuration(of: hashes.keys) != nil { throw error }
  }

  /// The ways to allow a loss, for the message about a refused migration.
  package static let permission =
    " (allowsMigrationLoss of the store's description, or moonbase migrate --allow-loss)"
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
