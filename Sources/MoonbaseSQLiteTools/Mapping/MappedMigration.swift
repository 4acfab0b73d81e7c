import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite
import MoonbaseSQLiteStore

/// Migrates a store by a mapping model: objects are created, connected and validated.
///
/// The store is locked throughout. Old objects are read from one copy beside the store. A second copy is emptied,
/// receives the new objects, and then replaces the old file in one step. Until then the old store stays unchanged,
/// whatever happens.
///
/// The steps: compile the mapping and plan (`work`), copy the file twice, empty the second copy, run the manager over
/// both copies, restore what was removed (`StoreRewriting.finish`), replace the store. A failure in any step removes
/// the copies.
struct MappedMigration {
  /// The file, options and progress, shared with lightweight migrations.
  let base: StoreMigration
  /// The newer model.
  let destination: ResolvedModel
  /// Returns the mapping from the model that wrote the store.
  let mapping: (ResolvedModel) throws -> MappingModel
  /// The policies by class name.
  let policies: [String: EntityMigrationPolicy]
  /// Makes the extensions of the contexts.
  var makeRegistry: (ManagedObjectModel) throws -> ExtensionRegistry = { _ in ExtensionRegistry() }

  /// The file to migrate.
  private var file: StoreFile { base.file }

  /// The size of the page cache in bytes. Rows are read and written in file order once in each phase, so a larger cache
  /// has no use.
  private static let cacheSize = 8 << 20

  /// The facts that are known before anything is written.
  private struct Work {
    /// The compiled mapping.
    let mapping: CompiledMapping
    /// The layout of the old file.
    let old: StoreLayout
    /// The layout of the new file.
    let new: StoreLayout
    /// The effects of the migration.
    let plan: MigrationPlan
  }

  /// Plans the migration without changing the file. Throws the errors of a mapping that does not fit the models.
  func plan() throws -> MigrationPlan {
    try file.settled {
      try file.requirePresent()
      return try file.reading { try work(on: $0).plan }
    }
  }

  /// Runs the migration and returns its plan.
  ///
  /// Throws `.invalidRequest` if the store is open in this process, and the losses as an error unless they are allowed.
  func run() throws -> MigrationPlan {
    try file.requireClosed(participle: "migrated")
    try file.checkPlace(for: "migrated")
    return try file.settled { try file.held(migrate) }
  }

  // MARK: The old and the new layout

  /// Compiles the mapping and plans the migration. Throws `.invalidModel` for mistakes in the mapping.
  private func work(on connection: Connection) throws -> Work {
    guard try !StoreContents.isBare(connection, path: file.path) else { throw file.bareError }
    let (source, old) = try base.contents(of: connection)
    let mapping = try CompiledMapping(mapping(source), from: source, to: destination, policies: policies)
    let new = try base.layout(destination)
    for entry in mapping.entries {
      guard let entity = entry.destination, new.entities[entity.index] == nil else { continue }
      throw CompiledMapping.mistake("the configuration does not hold \(entity.name)", in: entry.mapping)
    }
    return Work(
      mapping: mapping, old: old, new: new,
      plan: try MappedPlanner(
        mapping, from: old, to: new, on: connection, external: base.external(), path: file.path
      ).make())
  }

  // MARK: Doing it

  /// Migrates the store, which the connection holds locked. The caller holds the lock until the file is replaced.
  private func migrate(_ connection: Connection) throws -> MigrationPlan {
    base.progress.watch(connection)
    let work = try work(on: connection)
    try base.check(work.plan)
    base.progress.begin(work.plan.rowCount, passes: 4)
    let original = StagedFile(of: file, for: .migration), successor = StagedFile(of: file, for: .migration)
    successor.removeOld()
    try base.progress.step("copy")
    for copy in [original, successor] {
      let statement = try connection.statement("VACUUM INTO ?")
      statement.bind(copy.path, at: 1)
      try statement.run()
    }
    base.progress.finish(work.plan.rowCount)
    var values: ExternalData?
    do {
      try fill(successor, from: original, work, values: &values)
      SupportFolder.synchronize(successor.path)
      try base.moveIntoPlace(successor, of: connection, external: base.external(), created: [])
    } catch {
      // Uses the recorded names, because reading the file again could be interrupted too.
      values?.removeMade()
      throw named(error, [original, successor])
    }
    base.progress.finish()
    return work.plan
  }

  /// Empties the second copy, fills it with new objects, and completes it. Throws `.storeBusy` if a policy still holds
  /// objects, and thereby the new file.
  private func fill(
    _ successor: StagedFile, from original: StagedFile, _ work: Work, values: inout ExternalData?
  ) throws {
    let map = MigrationMap(work.mapping.keptPairs, from: work.old, to: work.new)
    let rewriting = StoreRewriting(
      path: file.path, map: map, plan: work.plan, external: base.external(), progress: base.progress, keepsTables: false
    )
    let emptied = try rewriting.empty(try Connection(successor.path, mode: .readWrite))
    try makeObjects(in: successor, from: original, work, values: &values)
    let connection = try Connection(successor.path, mode: .readWrite)
    base.progress.watch(connection)
    // Saves switched the file to a write-ahead log, which it must not have under its new name.
    guard try connection.text("PRAGMA journal_mode = DELETE") == "delete" else {
      throw GraphError(
        .storeBusy, message: "\(file.path) was not migrated: something still has the new objects; let go of them")
    }
    try rewriting.finish(emptied, on: connection)
  }

  /// Creates and connects the new objects. The contexts and stores are released at the end. The coordinators have one
  /// store each.
  private func makeObjects(
    in successor: StagedFile, from original: StagedFile, _ work: Work, values: inout ExternalData?
  ) throws {
    let old = try SQLiteStore(
      file: StoreFile(url: URL(fileURLWithPath: original.path)), model: work.old.model,
      entities: work.old.entities.compactMap { $0?.entity },
      options: SQLiteStoreOptions(readOnly: true, cacheSize: Self.cacheSize), original: file
    )
    let new = try SQLiteStore(
      file: StoreFile(url: URL(fileURLWithPath: successor.path)), model: destination,
      entities: work.new.entities.compactMap { $0?.entity }, options: SQLiteStoreOptions(cacheSize: Self.cacheSize),
      original: file)
    values = new.externalData
    let coordinators = [
      PersistentStoreCoordinator(model: work.old.model), PersistentStoreCoordinator(model: destination),
    ]
    try coordinators[0].add(old)
    try coordinators[1].add(new)
    // A policy may retain a context, but the files must be closed.
    defer {
      try? coordinators[0].remove(old)
      try? coordinators[1].remove(new)
    }
    let manager = try MigrationManager(
      work.mapping,
      source: ManagedObjectContext(coordinators[0], extensionRegistry: makeRegistry(work.old.model.description)),
      destination: ManagedObjectContext(coordinators[1], extensionRegistry: makeRegistry(destination.description)),
      store: StoreNumber(new.identifier))
    // Missing required values were reported as losses by the plan, and allowed.
    manager.allowsMissingValues = base.allowsLoss
    try manager.run(base.progress)
  }

  // MARK: Failing

  /// The error with the path of the store in place of its copies. Errors would otherwise name temporary files.
  private func named(_ error: any Error, _ copies: [StagedFile]) -> any Error {
    let error = StoreFailure(path: file.path).translate(error)
    guard var known = error as? GraphError else { return error }
    func renamed(_ text: String) -> String {
      copies.reduce(text) { $0.replacingOccurrences(of: $1.path, with: file.path) }
    }
    known.message = renamed(known.message)
    for index in known.details.indices { known.details[index].message = renamed(known.details[index].message) }
    return known
  }
}
