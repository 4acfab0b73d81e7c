import ArgumentParser
import Moonbase
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLiteStore

struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Makes a store of one version of a model a store of another, or says what that would do.",
    discussion: """
      The store is of the model that it carries; --from names others that it may be of. An .xcdatamodeld or .momd behind --to brings its \
      versions along. Nothing is done where values would be lost, unless --allow-loss.

      What becomes of what follows from the two models, unless --mapping says it. A migration that fails or is interrupted leaves the store as it \
      was.

      Exit status: 0 migrated, or with --plan nothing would be lost; 1 otherwise; 75 somebody has the store open; 130 interrupted.
      """)

  @Argument(help: "The store.")
  var store: String

  @Option(help: "The model that it is to be of: \(ModelFile.forms).")
  var to: String

  @Option(help: "A model that it may be of, if it carries none. May be given several times.")
  var from: [String] = []

  @Option(help: "The configuration of the model that the store holds.")
  var configuration: String?

  @Option(help: "The mapping between the two: an .xcmappingmodel, or a Lua file with a function for each entity.")
  var mapping: String?

  @Flag(help: "Say what would be done, and do nothing.")
  var plan = false

  @Flag(help: "Go through the versions between the store's and the current one, in the order of their names.")
  var staged = false

  @Flag(help: "Migrate although something is lost.")
  var allowLoss = false

  @Flag(help: "No word but errors on standard error.")
  var quiet = false

  func validate() throws {
    if plan && staged { throw ValidationError("--plan tells of one step: name the version behind --to") }
    if staged && mapping != nil {
      throw ValidationError("--mapping is a mapping between two versions: leave --staged out")
    }
  }

  func run() throws {
    let url = URL(literalPath: store)
    guard access(store, F_OK) == 0 || errno != ENOENT else {
      throw GraphError(.cannotOpenFile, message: "\(store): there is no such store: name one")
    }
    if plan {
      let plan = try planned(url)
      Terminal.print(plan.description)
      if !plan.losses.isEmpty, !allowLoss { throw ExitCode(ExitStatus.failed) }
    } else {
      let progress = CommandProgress(quiet: quiet)
      defer { progress.end() }
      let done: [MigrationPlan]
      do { done = try migrate(url, progress) } catch is CancellationError {
        throw GraphError(.interrupted, message: "interrupted: \(store) is as it was")
      }
      progress.end()
      for plan in done { Terminal.print(plan.description) }
    }
  }

  private func planned(_ url: URL) throws -> MigrationPlan {
    let (model, versions) = (try ModelFile.read(to), try versions())
    switch try MappingFile(mapping, quiet: quiet) {
    case .none:
      return try SQLiteStore.migrationPlan(
        forStoreAt: url, to: model, configuration: configuration, sources: versions)
    case .model(let mapping):
      return try SQLiteStore.migrationPlan(
        forStoreAt: url, to: model, with: mapping, configuration: configuration, sources: versions)
    case .script(let source):
      return try source.run { script in
        try SQLiteStore.migrationPlan(
          forStoreAt: url, to: model, with: script, configuration: configuration, sources: versions)
      }
    }
  }

  private func migrate(_ url: URL, _ progress: CommandProgress) throws -> [MigrationPlan] {
    let (model, versions) = (try ModelFile.read(to), try versions())
    if staged {
      return try SQLiteStore.migrate(
        storeAt: url, through: versions, configuration: configuration, allowsLoss: allowLoss, progress: progress)
    }
    let plan =
      switch try MappingFile(mapping, quiet: quiet) {
      case .none:
        try SQLiteStore.migrate(
          storeAt: url, to: model, configuration: configuration, sources: versions, allowsLoss: allowLoss,
          progress: progress)
      case .model(let mapping):
        try SQLiteStore.migrate(
          storeAt: url, to: model, with: mapping, configuration: configuration, sources: versions,
          allowsLoss: allowLoss, progress: progress)
      case .script(let source):
        try source.run { script in
          try SQLiteStore.migrate(
            storeAt: url, to: model, with: script, configuration: configuration, sources: versions,
            allowsLoss: allowLoss, progress: progress)
        }
      }
    return [plan]
  }

  /// Those behind --from, and those of a model with several up to its current one.
  private func versions() throws -> [ResolvedModel] {
    let named = try from.map(ModelFile.read)
    guard let source = try? ModelSource(contentsOf: URL(literalPath: to)), source.entries != nil,
      let versioned = try? VersionedModel(source), versioned.versions.count > 1
    else { return named }
    let current = versioned.versions.firstIndex { $0.name == versioned.currentName } ?? versioned.versions.count - 1
    return try named + versioned.versions[...current].map { try $0.model.resolved() }
  }
}
