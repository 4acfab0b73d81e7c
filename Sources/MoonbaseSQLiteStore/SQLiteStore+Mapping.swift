package import MoonbaseGraph
public import MoonbaseModel
public import MoonbaseModelFormats
public import MoonbasePlatform

extension SQLiteStore {
  /// What a migration by a mapping model would do, without doing it. The file is only read.
  ///
  /// Throws as `migrate(storeAt:to:with:)` does, but for losses, which the plan tells.
  public static func migrationPlan(
    forStoreAt url: URL, to model: ResolvedModel, with mapping: MappingModel,
    policies: [String: EntityMigrationPolicy] = [:], configuration: String? = nil, sources: [ResolvedModel] = [],
    busyTimeout: Duration? = nil
  ) throws -> MigrationPlan {
    try migrationPlan(
      forStoreAt: url, to: model, mapping: { _ in mapping }, policies: policies, configuration: configuration,
      sources: sources, busyTimeout: busyTimeout)
  }

  /// Makes a store of an older model a store of this one by a mapping model: Core Data's heavyweight migration. Returns what was done.
  ///
  /// ```swift
  /// let mapping = try MappingModel(ModelSource(contentsOf: mappingURL))
  /// try SQLiteStore.migrate(storeAt: url, to: model, with: mapping, policies: ["App.PersonPolicy": PersonPolicy()])
  /// ```
  ///
  /// Objects are made entity mapping by entity mapping, then connected, then checked by the rules of the model; `policies` do what the mappings name
  /// them for. Nobody else may have the store open. Either it is migrated or it is as it was, also where a process dies in between. Its UUID
  /// and metadata of the program's own stay, and keys where each table's objects come from one; its history begins anew.
  ///
  /// Throws `ModelError` with `.invalidModel` where the mapping cannot be run, before anything is written; `.migrationLoss` where there are objects
  /// that no mapping names, unless `allowsLoss`; what rules, policies and expressions throw, with mapping, entity and row; and as
  /// `migrate(storeAt:to:)` does.
  @discardableResult
  public static func migrate(
    storeAt url: URL, to model: ResolvedModel, with mapping: MappingModel,
    policies: [String: EntityMigrationPolicy] = [:], configuration: String? = nil, sources: [ResolvedModel] = [],
    allowsLoss: Bool = false, busyTimeout: Duration? = nil, progress: Progress? = nil
  ) throws -> MigrationPlan {
    try migrate(
      storeAt: url, to: model, mapping: { _ in mapping }, policies: policies, configuration: configuration,
      sources: sources, allowsLoss: allowsLoss, busyTimeout: busyTimeout, progress: progress,
      makingDomains: { _ in ExtensionRegistry() })
  }

  // MARK: By a mapping that depends on the store's model

  package static func migrationPlan(
    forStoreAt url: URL, to model: ResolvedModel, mapping: (ResolvedModel) throws -> MappingModel,
    policies: [String: EntityMigrationPolicy], configuration: String?, sources: [ResolvedModel], busyTimeout: Duration?
  ) throws -> MigrationPlan {
    let base = StoreMigration(
      file: StoreFile(url: url, busyTimeout: busyTimeout), sources: sources, stages: [model],
      configuration: configuration)
    return try withoutActuallyEscaping(mapping) {
      try MappedMigration(base: base, destination: model, mapping: $0, policies: policies).plan()
    }
  }

  package static func migrate(
    storeAt url: URL, to model: ResolvedModel, mapping: (ResolvedModel) throws -> MappingModel,
    policies: [String: EntityMigrationPolicy], configuration: String?, sources: [ResolvedModel], allowsLoss: Bool,
    busyTimeout: Duration?, progress: Progress?,
    makingDomains makeRegistry: @escaping (ManagedObjectModel) throws -> ExtensionRegistry
  ) throws -> MigrationPlan {
    let base = StoreMigration(
      file: StoreFile(url: url, busyTimeout: busyTimeout), sources: sources, stages: [model],
      configuration: configuration,
      allowsLoss: allowsLoss, progress: MigrationProgress(progress))
    return try withoutActuallyEscaping(mapping) {
      try MappedMigration(
        base: base, destination: model, mapping: $0, policies: policies, makeRegistry: makeRegistry
      ).run()
    }
  }
}
