import MoonbaseGraph
package import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
package import MoonbaseSQL
package import MoonbaseSQLite
package import MoonbaseSQLiteStore

/// Migrates a store to another model.
///
/// The store is locked throughout. A copy beside it is converted in one transaction. When it is on disk with all its
/// values, its file replaces the old one in one step. Until then the old store stays unchanged, whatever happens.
///
/// The order of calls: `plan()` or `plans()` to look ahead, then `run()`. A value is used once by `SQLiteStore.migrate`
/// and the command `moonbase migrate`; mapped migrations (`MappedMigration`) share its lower parts.
package struct StoreMigration {
  /// The file to migrate.
  package let file: StoreFile
  /// The possible models of the store; the model stored in it comes first.
  let sources: [ResolvedModel]
  /// The models of the stages; the last one is the final model.
  let stages: [ResolvedModel]
  /// The configuration of the model for which the store is opened; nil for all entities.
  let configuration: String?
  /// Whether losses of values are accepted.
  package var allowsLoss = false
  /// The way in which a loss can be allowed, for the error's advice, if not by an argument of the call.
  var permission = ""
  /// Steps, units and cancellation.
  package var progress = MigrationProgress(nil)

  /// Describes a migration of a file, through the models of its stages.
  package init(
    file: StoreFile, sources: [ResolvedModel], stages: [ResolvedModel], configuration: String?,
    allowsLoss: Bool = false, permission: String = "", progress: MigrationProgress = MigrationProgress(nil)
  ) {
    (self.file, self.sources, self.stages, self.configuration) = (file, sources, stages, configuration)
    (self.allowsLoss, self.permission, self.progress) = (allowsLoss, permission, progress)
  }

  /// Plans the first stage without changing the file. Throws `.missingSourceModel`, `.storeBusy`, and the errors of
  /// files that are not stores. Conflicts and losses are part of the plan, not errors.
  package func plan() throws -> MigrationPlan {
    guard let first = stages.first else { return MigrationPlan() }
    return try file.settled {
      try file.requirePresent()
      return try file.reading { try work(on: $0, destination: first).plan }
    }
  }

  /// Plans all stages, up to one that cannot be executed. Because each stage depends on the result of the one before,
  /// the stages are run in a temporary copy beside the store. The copy is removed before the call returns.
  package func plans() throws -> [MigrationPlan] {
    guard stages.count > 1 else { return stages.isEmpty ? [] : [try plan()] }
    try file.checkPlace(for: "migrated")
    return try file.settled {
      try file.requirePresent()
      return try file.reading(rehearse)
    }
  }

  /// Runs the stages in a temporary copy, and returns their plans. Losses are allowed here, so that each stage gets its
  /// plan.
  private func rehearse(_ connection: Connection) throws -> [MigrationPlan] {
    let successor = StagedFile(of: file, for: .migration)
    let copy = try connection.statement("VACUUM INTO ?")
    copy.bind(successor.path, at: 1)
    try copy.run()
    let external = external()
    var created: [String] = [], plans: [MigrationPlan] = []
    defer {
      for name in created { external.folder.remove(name) }
      external.folder.removeIfEmpty()
    }
    var rehearsal = self
    rehearsal.allowsLoss = true
    for stage in stages {
      let plan = try work(on: Connection(successor.path, mode: .readWrite), destination: stage).plan
      plans.append(plan)
      if plans.count == stages.count || !plan.conflicts.isEmpty { break }
      _ = try rehearsal.advance(successor.path, to: stage, external: external, created: &created)
    }
    return plans
  }

  /// Runs the migration and returns the plans of all stages. Throws `.migrationLoss` for a loss that is not allowed.
  /// Throws `.constraintConflict` for values that are not unique under the newer model, and `CancellationError`. On any
  /// error the old store is unchanged and the copy is removed.
  @discardableResult
  package func run() throws -> [MigrationPlan] {
    try file.requireClosed(participle: "migrated")
    try file.checkPlace(for: "migrated")
    return try file.settled { try file.held(migrate) }
  }

  /// Migrates the store, which the connection holds locked. The steps: check the plan, copy with `VACUUM INTO`, convert
  /// the copy stage by stage, synchronize it, then replace the file.
  private func migrate(_ connection: Connection) throws -> [MigrationPlan] {
    progress.watch(connection)
    guard let first = stages.first else { return [] }
    // The first stage is checked before anything is copied.
    let plan = try allowed(work(on: connection, destination: first))
    progress.begin(plan.plan.rowCount * stages.count)
    let successor = StagedFile(of: file, for: .migration)
    successor.removeOld()
    try progress.step("copy")
    let copy = try connection.statement("VACUUM INTO ?")
    copy.bind(successor.path, at: 1)
    try copy.run()
    progress.finish(plan.plan.rowCount)
    let external = external()
    var created: [String] = []
    do {
      var plans: [MigrationPlan] = []
      for stage in stages {
        plans.append(try advance(successor.path, to: stage, external: external, created: &created))
      }
      SupportFolder.synchronize(successor.path)
      try moveIntoPlace(successor, of: connection, external: external, created: created)
      progress.finish()
      return plans
    } catch {
      for name in created { external.folder.remove(name) }
      external.folder.removeIfEmpty()
      throw StoreFailure(path: file.path).translate(error)
    }
  }

  /// Runs one stage in the copy. `created` receives the names of new value files, also on failure.
  private func advance(
    _ path: String, to stage: ResolvedModel, external: ExternalData, created: inout [String]
  ) throws -> MigrationPlan {
    let copy = try Connection(path, mode: .readWrite)
    progress.watch(copy)
    try copy.trustRTrees()
    let (plan, old, mapping) = try allowed(work(on: copy, destination: stage))
    let map = MigrationMap(mapping, from: old, to: try layout(stage))
    let rewriting = StoreRewriting(path: file.path, map: map, plan: plan, external: external, progress: progress)
    try rewriting.run(on: copy, created: &created)
    return plan
  }

  /// Replaces the store by the migrated copy, and removes value files that the new store does not name. The log's
  /// contents are moved into the old file before, so that a leftover log cannot be applied to the new file. The
  /// replacement itself is one rename.
  package func moveIntoPlace(
    _ successor: StagedFile, of connection: Connection, external: ExternalData, created: [String]
  ) throws {
    let named = try OrphanSweep.namedFiles(Connection(successor.path, mode: .readWrite))
    let former = try OrphanSweep.namedFiles(connection)
    try progress.step("swap")
    try file.mergeLog(connection)
    try successor.moveIntoPlace()
    // A stage may have created files that a later stage dropped.
    for name in Set(created).subtracting(named) { external.folder.remove(name) }
    if !external.folder.isShared { for name in former.subtracting(named) { external.folder.remove(name) } }
  }

  /// The work, if its plan has no losses or they are allowed. Throws otherwise.
  private func allowed(
    _ work: (plan: MigrationPlan, old: StoreLayout, mapping: MappingModel)
  ) throws -> (plan: MigrationPlan, old: StoreLayout, mapping: MappingModel) {
    try check(work.plan)
    return work
  }

  // MARK: The old and the new layout

  /// Plans a stage: the plan, the old layout, and the mapping between the models. Throws `.missingSourceModel`, and the
  /// error for a database that is not a store.
  private func work(
    on connection: Connection, destination: ResolvedModel
  ) throws -> (plan: MigrationPlan, old: StoreLayout, mapping: MappingModel) {
    guard try !StoreContents.isBare(connection, path: file.path) else {
      throw file.bareError
    }
    let (source, old) = try contents(of: connection)
    let mapping = try MappingModel(inferredFrom: source, to: destination)
    let map = MigrationMap(mapping, from: old, to: try layout(destination))
    var planner = MigrationPlanner(
      map, mapping: mapping, on: connection, conversions: ColumnConversions(external: external(), path: file.path),
      path: file.path)
    return (try planner.make(), old, mapping)
  }

  /// The model that wrote the store, and the layout of the file. Throws `.readOnlyStore` for a store that CloudKit
  /// mirrors.
  package func contents(of connection: Connection) throws -> (model: ResolvedModel, layout: StoreLayout) {
    let (source, entities) = try source(of: connection)
    guard let contents = try StoreContents(connection, path: file.path, model: source, entities: entities) else {
      throw file.bareError
    }
    try contents.metadata.checkIdentifier(file.path)
    try contents.checkIsWhole(file.path)
    guard !contents.isMirrored else {
      throw GraphError(
        .readOnlyStore,
        message:
          "\(file.path) is mirrored by CloudKit, which would not hear of the migration: let the app that wrote it migrate it"
      )
    }
    return (source, contents.layout)
  }

  /// The layout of a new file for a model. Throws for an entity with more columns than SQLite allows.
  package func layout(_ destination: ResolvedModel) throws -> StoreLayout {
    var builder = LayoutBuilder(
      model: destination, entities: try destination.entities(inConfiguration: configuration), file: nil,
      dialect: .sqlite)
    let layout = try builder.build()
    try layout.checkColumnCounts(.sqlite)
    return layout
  }

  /// The folder of external values of the store.
  package func external() -> ExternalData { ExternalData(store: file, observer: StatementObserver()) }

  /// The model that wrote the store, found by its version hashes, and the entities that the store holds. The model in
  /// the store's cache is tried first, then `sources` in order. Throws `.missingSourceModel`.
  private func source(of connection: Connection) throws -> (ResolvedModel, [ResolvedEntity]) {
    let stored = try StoreMetadata(connection, path: file.path).hashes
    let schema = try FileSchema(connection, path: file.path)
    let cache = try StoreContents.modelCache(connection, schema: schema)
    let carried = cache.flatMap { try? ManagedObjectModel(modelCache: $0).resolved() }
    for model in [carried].compactMap(\.self) + sources {
      let entities = model.entities.filter { stored[$0.name] != nil }
      let version = StoreMetadata.version(model, entities: entities)
      if version.isCompatible(withStored: stored, cached: carried?.version) { return (model, entities) }
    }
    if cache == nil {
      let given = sources.isEmpty ? "" : "; its version hashes are none of those of the models given"
      throw GraphError(.missingSourceModel, message: StoreFile.withoutModel(file.path) + given)
    }
    throw GraphError(
      .missingSourceModel,
      message:
        "\(file.path) cannot be migrated: the model that wrote it is not known (its version hashes are none of those of "
        + "\(sources.isEmpty ? "the model in its cache" : "the models given")): name that version of the model")
  }

  /// Throws if a plan cannot be executed, or has losses that are not allowed. The codes are `.constraintConflict` and
  /// `.migrationLoss`; `details` contain an error for each conflict or loss.
  package func check(_ plan: MigrationPlan) throws {
    if let first = plan.conflicts.first {
      throw GraphError(
        .constraintConflict,
        message:
          "\(file.path) was not migrated, because values must be unique in the newer model and are not: change them, or leave the "
          + "uniqueness constraint out", entity: first.entity, property: first.properties.first,
        details: plan.conflicts.map {
          GraphError(.constraintConflict, message: $0.description, entity: $0.entity, property: $0.properties.first)
        })
    }
    if !allowsLoss, !plan.losses.isEmpty { throw refusal(plan) }
  }

  /// The reason for refusing losses, with advice. The advice depends on the losses: a renaming identifier for a
  /// property that may have been renamed, a default value for a required attribute, and so on.
  private func reason(_ losses: [MigrationPlan.Loss]) -> String {
    let missing = losses.filter(\.isMissingValue)
    let others = losses.filter { !$0.isMissingValue }
    let isMapped = others.contains(where: \.isOfMapping)
    var advice: [String] = []
    if others.contains(where: \.mayBeRenamed) { advice.append("give what was renamed its renaming identifier") }
    if isMapped { advice.append("let an entity mapping take it") }
    if !others.isEmpty { advice.append("change the rows") }
    if let first = missing.first {
      let name = "\(first.entity).\(first.property ?? "")"
      advice.append(first.isOfRelationship ? "make \(name) optional" : "give \(name) a default, make it optional")
    }
    let subject = others.isEmpty ? "what it is" : "what becomes of it"
    if !isMapped { advice.append("or say by a mapping \(subject) (--mapping)") }
    let why = others.isEmpty ? "a value is required that objects do not have" : "something would be lost"
    return "because \(why): \(advice.joined(separator: ", "))"
  }

  /// The error for losses that are not allowed. The message names the first loss, `details` all of them.
  private func refusal(_ plan: MigrationPlan) -> GraphError {
    let details = plan.losses.map {
      GraphError(.migrationLoss, message: $0.description, entity: $0.entity, property: $0.property)
    }
    return GraphError(
      .migrationLoss,
      message: "\(file.path) was not migrated, \(reason(plan.losses)), or allow the loss\(permission)",
      entity: plan.losses.first?.entity, property: plan.losses.first?.property, details: details)
  }
}
