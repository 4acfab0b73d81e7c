import MoonbaseGraph
public import MoonbaseModel
public import MoonbasePlatform

extension SQLiteStore {
  /// What a migration of a store to a model would do, without doing it. The file is only read.
  ///
  /// The model that the store is of is the one that it carries, or the one of `sources` with its hashes. Throws `.missingSourceModel` where there is none,
  /// `ModelError` with `.cannotInferMapping` where the models do not tell how the rows of the one become those of the other, and `GraphError` as
  /// opening does.
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

  /// Makes a store of an older (or newer) model a store of this one: Core Data's lightweight migration. Returns what was done.
  ///
  /// Nobody else may have the store open. Either it is migrated or it is as it was, also where a process dies in between. Its UUID, its
  /// objects' keys and metadata of the program's own stay, and so does its history. Whoever has it is waited for as long as `busyTimeout` says, in milliseconds
  /// (5 seconds).
  ///
  /// Throws `.migrationLoss` where objects, values or destinations would be lost, unless `allowsLoss`; `.invalidRequest` for a store that this process
  /// has open, `.storeBusy` where another process has it; `CancellationError` where the progress is cancelled; and as `migrationPlan` does.
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

  /// Migrates a store from the version of a model that it is of to each that follows, up to the last: `NSStagedMigrationManager` with
  /// lightweight stages. What two versions do not tell directly, those between them may. Returns what was done, stage by stage.
  ///
  /// All stages are one migration: the store is of the last version, or as it was. A store of none of the versions begins with the model that it carries, and
  /// goes through all of them. Throws `.missingSourceModel` where that is not the one that wrote it, and else as `migrate(storeAt:to:)` does.
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

  /// What `migrate(storeAt:through:)` would do, stage by stage, without doing it: the stages are tried in a copy beside the store. The plans end
  /// with one that could not be carried out.
  public static func migrationPlans(
    forStoreAt url: URL, through versions: [ResolvedModel], configuration: String? = nil, busyTimeout: Duration? = nil
  ) throws -> [MigrationPlan] {
    try stages(ofStoreAt: url, through: versions, configuration: configuration, busyTimeout: busyTimeout).plans()
  }

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

  /// Whether the model in a store is the one that wrote it.
  private static func carriesItsModel(storeAt url: URL, busyTimeout: Duration?) throws -> Bool {
    guard let carried = try? cachedModel(ofStoreAt: url, busyTimeout: busyTimeout).resolved() else { return false }
    let stored = try hashes(ofStoreAt: url, busyTimeout: busyTimeout)
    let entities = carried.entities.filter { stored[$0.name] != nil }
    return StoreMetadata.version(carried, entities: entities).isCompatible(withStored: stored, cached: carried.version)
  }

  private static func hashes(ofStoreAt url: URL, busyTimeout: Duration?) throws -> [String: Data] {
    let entries = try metadata(ofStoreAt: url, busyTimeout: busyTimeout)["NSStoreModelVersionHashes"]
    return (entries?.map ?? [:]).compactMapValues(\.data)
  }

  /// Which of several versions of a model a store is of, the first by its hashes; nil for none of them. The file is only read.
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
