import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLiteStore

/// The command `moonbase migrate`. It compares the model of the store with the requested model,
/// infers or reads a mapping, and rewrites the store. With `--plan`, it prints the steps and
/// changes nothing.
///
/// With `--staged`, the store passes through all versions in between, so that a property that was
/// renamed twice keeps its values. docs/models.md describes the inference.
struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Makes a store of one version of a model a store of another, or says what that would do.",
    discussion: """
      The store is of the model that it carries; --from names others that it may be of. An .xcdatamodeld or .momd behind --to brings its \
      versions along.

      The mapping is inferred from the two models, unless --mapping names one. A migration that would lose an object, a value or a destination is \
      refused, unless --allow-loss is given; an attribute without values is removed without a question. A migration that fails or is interrupted \
      leaves the store unchanged.

      A property that was renamed twice keeps its values only from version to version. --staged migrates through the versions between the store's \
      version and --to: first those of --from, in their order, then those of the .xcdatamodeld or .momd, in the order of their names.

      Exit status: 0 migrated, or with --plan could be; 1 otherwise; 75 somebody has the store open; 130 interrupted.
      """)

  @OptionGroup var place: StoreArgument

  /// The path of the store.
  private var store: String { place.path }

  @Option(help: "The model that it is to be of: \(ModelFile.forms).", completion: .file())
  var to: String

  @Option(
    help:
      "A model that it may be of, if it carries none; with --staged a version on the way. May be given several times.",
    completion: .file())
  var from: [String] = []

  @Option(
    name: .customLong("configuration"),
    help: "The configuration of the model that the store holds; CONFIG=PATH says it too.",
    completion: .configurations)
  var namedConfiguration: String?

  /// The configuration from the option or from the argument `CONFIG=PATH`.
  private var configuration: String? { namedConfiguration ?? place.place.configuration }

  @Option(
    help: "The mapping between the two: an .xcmappingmodel, or a Lua file with a function for each entity.",
    completion: .file())
  var mapping: String?

  @Flag(help: "Say what would be done, and do nothing.")
  var plan = false

  @Flag(name: StoreOption.readOnly.parserName, help: "Change nothing: goes with --plan, which never does.")
  var readOnly = false

  @Flag(help: "Go through the versions between the store's and the one behind --to.")
  var staged = false

  @Flag(help: "Migrate although objects, values or destinations are lost.")
  var allowLoss = false

  @OptionGroup var patience: PatienceOptionGroup
  @OptionGroup var limits: LimitOptionGroup

  @Flag(help: "No word but errors on standard error.")
  var quiet = false

  @Flag(help: "Print JSON.")
  var json = false

  /// Rejects combinations of options that contradict each other.
  func validate() throws {
    if readOnly, !plan { throw ValidationError("--read-only leaves the store as it is: give --plan with it") }
    if let namedConfiguration, let other = place.place.configuration, other != namedConfiguration {
      throw ValidationError(
        "the store is named with configuration \(other), and --configuration says \(namedConfiguration): leave one out")
    }
    if staged && mapping != nil {
      throw ValidationError("--mapping is a mapping between two versions: leave --staged out")
    }
  }

  /// Runs the command under the limits for time and memory.
  func run() throws { try limits.run { _ in try migrate() } }

  /// Reads the models and checks the configuration. An unknown source model becomes an error that
  /// names `--from`.
  private func migrate() throws {
    try StoreSettings.requireStore(store)
    try place.place.requireConfiguration(busyTimeout: patience.duration())
    let versions = try ModelVersions(from: from, to: to)
    let outcome: Outcome
    do { outcome = try withFile(versions) { try run($0, versions) } } catch var error as GraphError
      where error.code == .missingSourceModel
    {
      if !error.message.contains("--from") { error.message += " (--from)" }
      throw error
    }
    try tell(outcome)
    guard plan else { return }
    if !outcome.plans.allSatisfy({ $0.isPossible(allowingLoss: allowLoss) }) { throw ExitCode(ExitStatus.failed) }
  }

  /// The plans, with the versions that the stages go through.
  private struct Outcome {
    var plans: [MigrationPlan]
    let stages: ArraySlice<ModelVersions.Version>
    var advice: String?
  }

  /// Calls `body` with the store's file. For a store on a server the file is a copy. Unless the command only plans, the
  /// copy then replaces the store.
  private func withFile(_ versions: ModelVersions, _ body: (URL) throws -> Outcome) throws -> Outcome {
    guard place.place.isOnServer else { return try body(URL(literalPath: store)) }
    let description = place.place.description(busyTimeout: try patience.duration())
    #if PostgreSQL
      let migration = try ServerMigration(of: description, at: place.place.address, sources: versions.sources)
      let watch = EndingWatch("\(place.place.name) is as it was") { [leftovers = migration.leftovers] in
        leftovers.discard()
      }
      defer { watch.end() }
      let (lost, parts) = (try migration.transactionCount(), try migration.foreignParts())
      var outcome = try plan ? migration.plan(body) : migration.run(allowingLoss: allowLoss, body)
      if !outcome.plans.isEmpty {
        (outcome.plans[0].lostTransactionCount, outcome.plans[0].foreignParts) = (lost, parts)
      }
      return outcome
    #else
      // Throws, because this build opens no address.
      _ = try description.keptMetadata()
      throw UsageError("\(place.place.name) cannot be opened")
    #endif
  }

  /// Plans or executes the migration.
  ///
  /// - Parameters:
  ///   - url: The location of the file.
  ///   - versions: The models of the options.
  private func run(_ url: URL, _ versions: ModelVersions) throws -> Outcome {
    let stages =
      staged ? try versions.stages(from: url, configuration: configuration, busyTimeout: patience.duration()) : []
    if plan {
      return Outcome(plans: try planned(url, versions), stages: stages, advice: try staging(url, versions))
    } else {
      let progress = CommandProgress(quiet: quiet)
      defer { progress.end() }
      do {
        return Outcome(plans: try migrate(url, versions, progress), stages: stages)
      } catch is CancellationError {
        throw GraphError(.interrupted, message: "interrupted: \(place.place.name) is as it was")
      } catch var error as GraphError where error.code == .migrationLoss {
        error.message += " by --allow-loss"
        if let advice = try staging(url, versions) { error.message += "; \(advice)" }
        throw error
      }
    }
  }

  /// Prints the plans, or the JSON object.
  private func tell(_ outcome: Outcome) throws {
    guard !json else {
      let names = staged ? outcome.stages.map(\.name) : [to]
      return Terminal.print(
        try Terminal.json(
          MigrationReport(
            store: place.place.name, isDone: !plan, allowsLoss: allowLoss, advice: outcome.advice, outcome.plans,
            to: names)))
    }
    for text in texts(outcome.plans, outcome.stages) { Terminal.print(text) }
    if let advice = outcome.advice { Terminal.print("? \(advice)") }
  }

  /// The plans as printed text. The plans of stages have the names of their versions.
  private func texts(_ plans: [MigrationPlan], _ stages: ArraySlice<ModelVersions.Version>) -> [String] {
    staged ? zip(stages, plans).map { "to \($0.name)\n\($1)" } : plans.map(\.description)
  }

  /// The plans without changes to the store. Rows are counted, so that the losses are known.
  private func planned(_ url: URL, _ versions: ModelVersions) throws -> [MigrationPlan] {
    let (model, sources, busyTimeout) = (versions.destination, versions.sources, try patience.duration())
    if staged {
      return try SQLiteStore.migrationPlans(
        forStoreAt: url, through: versions.chain.map(\.model), configuration: configuration, busyTimeout: busyTimeout)
    }
    let plan =
      switch try MappingFile(mapping, quiet: quiet) {
      case .none:
        try SQLiteStore.migrationPlan(
          forStoreAt: url, to: model, configuration: configuration, sources: sources, busyTimeout: busyTimeout)
      case .model(let mapping):
        try SQLiteStore.migrationPlan(
          forStoreAt: url, to: model, with: mapping, configuration: configuration, sources: sources,
          busyTimeout: busyTimeout)
      case .script(let source):
        try source.run(limits.settings()) { script in
          try SQLiteStore.migrationPlan(
            forStoreAt: url, to: model, with: script, configuration: configuration, sources: sources,
            busyTimeout: busyTimeout)
        }
      }
    return [plan]
  }

  /// Migrates the store, and returns the plans that were executed.
  ///
  /// - Parameters:
  ///   - url: The location of the store.
  ///   - versions: The models of the options.
  ///   - progress: Shows the number of migrated rows.
  /// - Throws: `.migrationLoss` if data would be lost and `--allow-loss` is not given. The store is
  /// unchanged then.
  private func migrate(
    _ url: URL, _ versions: ModelVersions, _ progress: CommandProgress
  ) throws -> [MigrationPlan] {
    let (model, sources, busyTimeout) = (versions.destination, versions.sources, try patience.duration())
    if staged {
      return try SQLiteStore.migrate(
        storeAt: url, through: versions.chain.map(\.model), configuration: configuration, allowsLoss: allowLoss,
        busyTimeout: busyTimeout,
        progress: progress)
    }
    let plan =
      switch try MappingFile(mapping, quiet: quiet) {
      case .none:
        try SQLiteStore.migrate(
          storeAt: url, to: model, configuration: configuration, sources: sources, allowsLoss: allowLoss,
          busyTimeout: busyTimeout,
          progress: progress)
      case .model(let mapping):
        try SQLiteStore.migrate(
          storeAt: url, to: model, with: mapping, configuration: configuration, sources: sources,
          allowsLoss: allowLoss, busyTimeout: busyTimeout, progress: progress)
      case .script(let source):
        try source.run(limits.settings()) { script in
          try SQLiteStore.migrate(
            storeAt: url, to: model, with: script, configuration: configuration, sources: sources,
            allowsLoss: allowLoss, busyTimeout: busyTimeout, progress: progress)
        }
      }
    return [plan]
  }

  /// A message about versions that are skipped, or nil if there are none.
  ///
  /// Skipped versions may contain renamings, which the direct inference cannot find.
  private func staging(_ url: URL, _ versions: ModelVersions) throws -> String? {
    guard !staged, mapping == nil else { return nil }
    let names = try versions.passedOver(from: url, configuration: configuration, busyTimeout: patience.duration())
    guard !names.isEmpty else { return nil }
    return "\(names.joined(separator: ", ")) \(names.count == 1 ? "lies" : "lie") in between: --staged goes through "
      + "\(names.count == 1 ? "it" : "them"), and may find more of what was renamed"
  }
}
