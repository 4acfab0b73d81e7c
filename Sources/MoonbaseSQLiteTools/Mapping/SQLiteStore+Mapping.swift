package import MoonbaseGraph
public import MoonbaseModel
public import MoonbaseModelFormats
public import MoonbasePlatform
public import MoonbaseSQLiteStore

/// Migration by a mapping model.
extension SQLiteStore {
  /// Plans a migration by a mapping model, without migrating. The file is only read.
  ///
  /// Throws as `migrate(storeAt:to:with:)` does, except for losses, which the plan contains.
  public static func migrationPlan(
    forStoreAt url: URL, to model: ResolvedModel, with mapping: MappingModel,
    policies: [String: EntityMigrationPolicy] = [:], configuration: String? = nil, sources: [ResolvedModel] = [],
    busyTimeout: Duration? = nil
  ) throws -> MigrationPlan {
    try migrationPlan(
      forStoreAt: url, to: model, mapping: { _ in mapping }, policies: policies, configuration: configuration,
      sources: sources, busyTimeout: busyTimeout)
  }

  /// Migrates a store of an older model by a mapping model: Core Data's heavyweight migration. Returns the plan that
  /// was carried out.
  ///
  /// ```swift
  /// let mapping = try MappingModel(ModelSource(contentsOf: mappingURL))
  /// try SQLiteStore.migrate(storeAt: url, to: model, with: mapping, policies: ["App.PersonPolicy": PersonPolicy()])
  /// ```
  ///
  /// The migration makes objects entity mapping by entity mapping, then connects them, then validates them by the rules
  /// of the model. `policies` customize the entity mappings that name them. No other client may have the store open.
  /// The migration is atomic, also where a process dies in between. The UUID and the program's own metadata are kept,
  /// and keys where each table's objects come from one table. The history begins anew.
  ///
  /// Throws `ModelError` with `.invalidModel` for an invalid mapping, before anything is written. Throws
  /// `.migrationLoss` for objects that no mapping names, unless `allowsLoss`. Errors of validation, policies and
  /// expressions name mapping, entity and row. Otherwise throws as `migrate(storeAt:to:)` does.
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

  /// Plans a migration by a mapping model that depends on the store's model. `mapping` receives the stored model. Used
  /// by `moonbase migrate --mapping`.
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

  /// Migrates by a mapping model that depends on the store's model. `makeRegistry` makes the script extensions of a
  /// model, for validation and computed values.
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
