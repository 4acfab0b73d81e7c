import MoonbaseGraph
public import MoonbaseModel
public import MoonbasePlatform
public import MoonbaseSQLiteStore

/// Lightweight migration.
extension SQLiteStore {
  /// Plans a migration of a store to a model, without migrating. The file is only read.
  ///
  /// The source model is the stored one, or the model of `sources` with the store's hashes. Throws
  /// `.missingSourceModel` where there is none. Throws `ModelError` with `.cannotInferMapping` where the two models do
  /// not determine how rows are converted. Otherwise throws `GraphError` as opening does.
  ///
  /// ```swift
  /// print(try SQLiteStore.migrationPlan(forStoreAt: url, to: model))
  /// ```
  public static func migrationPlan(
    forStoreAt url: URL, to model: ResolvedModel, configuration: String? = nil, sources: [ResolvedModel] = [],
    busyTimeout: Duration? = nil
  ) throws -> MigrationPlan {
    try StoreMigration(
      file: StoreFile(url: url, busyTimeout: busyTimeout), sources: sources, stages: [model],
      configuration: configuration
    ).plan()
  }

  /// Migrates a store of an older (or newer) model to this model: Core Data's lightweight migration. Returns the plan
  /// that was carried out.
  ///
  /// No other client may have the store open. The migration is atomic, also where a process dies in between. The UUID,
  /// the objects' keys, the program's own metadata and the history are kept. The call waits for other processes for
  /// `busyTimeout` (5 seconds by default).
  ///
  /// Throws `.migrationLoss` where objects, values or destinations would be lost, unless `allowsLoss`. Throws
  /// `.invalidRequest` for a store that this process has open, `.storeBusy` where another process has it open, and
  /// `CancellationError` where the progress is cancelled. Otherwise throws as `migrationPlan` does.
  @discardableResult
  public static func migrate(
    storeAt url: URL, to model: ResolvedModel, configuration: String? = nil, sources: [ResolvedModel] = [],
    allowsLoss: Bool = false, busyTimeout: Duration? = nil, progress: Progress? = nil
  ) throws -> MigrationPlan {
    try StoreMigration(
      file: StoreFile(url: url, busyTimeout: busyTimeout), sources: sources, stages: [model],
      configuration: configuration,
      allowsLoss: allowsLoss, progress: MigrationProgress(progress)
    ).run().first ?? MigrationPlan()
  }

  /// Migrates a store from its version of a model through all later versions to the last: `NSStagedMigrationManager`
  /// with lightweight stages. A mapping that two versions do not determine directly may follow from the versions
  /// between them. Returns the plans of the stages.
  ///
  /// All stages are one atomic migration. A store of none of the versions begins with its stored model, and passes
  /// through all versions. Throws `.missingSourceModel` where the stored model is not the one that wrote the store.
  /// Otherwise throws as `migrate(storeAt:to:)` does.
  ///
  /// ```swift
  /// let versions = try VersionedModel(ModelSource(contentsOf: url)).versions.map { try $0.model.resolved() }
  /// try SQLiteStore.migrate(storeAt: store, through: versions)
  /// ```
  @discardableResult
  public static func migrate(
    storeAt url: URL, through versions: [ResolvedModel], configuration: String? = nil, allowsLoss: Bool = false,
    busyTimeout: Duration? = nil, progress: Progress? = nil
  ) throws -> [MigrationPlan] {
    try stages(
      ofStoreAt: url, through: versions, configuration: configuration, allowsLoss: allowsLoss,
      busyTimeout: busyTimeout, progress: MigrationProgress(progress)
    ).run()
  }

  /// Plans `migrate(storeAt:through:)` stage by stage, without migrating. The stages are tried in a copy beside the
  /// store. The list ends with the first plan that could not be carried out.
  public static func migrationPlans(
    forStoreAt url: URL, through versions: [ResolvedModel], configuration: String? = nil, busyTimeout: Duration? = nil
  ) throws -> [MigrationPlan] {
    try stages(ofStoreAt: url, through: versions, configuration: configuration, busyTimeout: busyTimeout).plans()
  }

  /// The stages after the store's version. Throws `.missingSourceModel` for a store of no version, unless it contains
  /// its model.
  private static func stages(
    ofStoreAt url: URL, through versions: [ResolvedModel], configuration: String?, allowsLoss: Bool = false,
    busyTimeout: Duration?, progress: MigrationProgress = MigrationProgress(nil)
  ) throws -> StoreMigration {
    let first = try version(ofStoreAt: url, among: versions, configuration: configuration, busyTimeout: busyTimeout)
    guard try first != nil || carriesItsModel(storeAt: url, busyTimeout: busyTimeout) else {
      throw GraphError(
        .missingSourceModel,
        message:
          "\(url.relativePath) is of none of the versions given: name the one that wrote it too, before those that follow it"
      )
    }
    return StoreMigration(
      file: StoreFile(url: url, busyTimeout: busyTimeout), sources: first.map { [versions[$0]] } ?? [],
      stages: Array(versions[(first.map { $0 + 1 } ?? 0)...]),
      configuration: configuration, allowsLoss: allowsLoss, progress: progress)
  }

  /// Whether the stored model of a store is the one that wrote it.
  /// Compared by the version hashes.
  private static func carriesItsModel(storeAt url: URL, busyTimeout: Duration?) throws -> Bool {
    guard let carried = try? cachedModel(ofStoreAt: url, busyTimeout: busyTimeout).resolved() else { return false }
    let stored = try hashes(ofStoreAt: url, busyTimeout: busyTimeout)
    let entities = carried.entities.filter { stored[$0.name] != nil }
    return StoreMetadata.version(carried, entities: entities).isCompatible(withStored: stored, cached: carried.version)
  }

  /// The version hashes in the store's metadata, by entity.
  private static func hashes(ofStoreAt url: URL, busyTimeout: Duration?) throws -> [String: Data] {
    let entries = try metadata(ofStoreAt: url, busyTimeout: busyTimeout)["NSStoreModelVersionHashes"]
    return (entries?.map ?? [:]).compactMapValues(\.data)
  }

  /// The index of the store's version among several versions of a model, by its hashes; nil for none. The file is only
  /// read. Entities outside of `configuration` do not count.
  package static func version(
    ofStoreAt url: URL, among versions: [ResolvedModel], configuration: String? = nil, busyTimeout: Duration? = nil
  ) throws -> Int? {
    let stored = try hashes(ofStoreAt: url, busyTimeout: busyTimeout)
    let cached = (try? cachedModel(ofStoreAt: url, busyTimeout: busyTimeout)).flatMap { try? $0.resolved().version }
    return try versions.firstIndex { version in
      let entities = try version.entities(inConfiguration: configuration)
      return StoreMetadata.version(version, entities: entities).isCompatible(withStored: stored, cached: cached)
    }
  }
}
