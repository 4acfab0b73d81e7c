import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// A store that is filled with one model, migrated to another, and read with that model.
struct MigratedStore {
  let folder: TemporaryFolder
  let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = folder.file()
  }

  /// Opens the store with a model, after a migration if one is given, lets `body` use it, and closes it.
  @discardableResult
  func using<Result>(
    _ model: ManagedObjectModel, options: SQLiteStoreOptions = SQLiteStoreOptions(),
    migration: AutomaticMigration? = nil, _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let resolved = try model.resolved()
    let coordinator = PersistentStoreCoordinator(model: resolved)
    let store =
      if let migration {
        try SQLiteStore.open(url: url, model: resolved, options: options, migration: migration)
      } else {
        try SQLiteStore(url: url, model: resolved, options: options)
      }
    try coordinator.add(store)
    let context = ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
    defer { try? coordinator.remove(store) }
    return try body(context)
  }

  /// Fills a new store.
  func fill(
    _ model: ManagedObjectModel, tracksHistory: Bool = false, _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    try using(model, options: SQLiteStoreOptions(tracksHistory: tracksHistory)) { context in
      try body(context)
      try context.save()
    }
  }

  @discardableResult
  func migrate(to model: ManagedObjectModel, allowsLoss: Bool = false) throws -> MigrationPlan {
    try SQLiteStore.migrate(storeAt: url, to: model.resolved(), allowsLoss: allowsLoss)
  }

  func plan(to model: ManagedObjectModel) throws -> MigrationPlan {
    try SQLiteStore.migrationPlan(forStoreAt: url, to: model.resolved())
  }

  /// The tables, indexes and triggers of a store, and its entity numbers; after a migration without additions they
  /// equal those of a new store.
  func schema() throws -> [String] {
    let file = try RawDatabase(url)
    return try file.rows("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
      + file.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT")
  }

  /// The schema of a new store of a model.
  static func schema(of model: ManagedObjectModel) throws -> [String] {
    let other = try MigratedStore()
    try other.fill(model) { _ in }
    return try other.schema()
  }
}

extension ManagedObjectModel {
  /// A changed copy of the model.
  func changed(_ change: (inout ManagedObjectModel) -> Void) -> ManagedObjectModel {
    var copy = self
    change(&copy)
    return copy
  }

  /// An entity by its name.
  subscript(entity name: String) -> EntityDescription {
    get { entities.first { $0.name == name } ?? EntityDescription(name) }
    set { if let index = entities.firstIndex(where: { $0.name == name }) { entities[index] = newValue } }
  }
}
