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

      Exit status: 0 migrated, or with --plan nothing would be lost; 1 otherwise; 75 somebody has the store open.
      """)

  @Argument(help: "The store.")
  var store: String

  @Option(help: "The model that it is to be of: \(ModelFile.forms).")
  var to: String

  @Option(help: "A model that it may be of, if it carries none. May be given several times.")
  var from: [String] = []

  @Option(help: "The configuration of the model that the store holds.")
  var configuration: String?

  @Flag(help: "Say what would be done, and do nothing.")
  var plan = false

  @Flag(help: "Go through the versions between the store's and the current one, in the order of their names.")
  var staged = false

  @Flag(help: "Migrate although something is lost.")
  var allowLoss = false

  func validate() throws {
    if plan && staged { throw ValidationError("--plan tells of one step: name the version behind --to") }
  }

  func run() throws {
    let url = URL(literalPath: store)
    guard access(store, F_OK) == 0 || errno != ENOENT else {
      throw GraphError(.cannotOpenFile, message: "\(store): there is no such store: name one")
    }
    let model = try ModelFile.read(to)
    let versions = try versions()
    if plan {
      let plan = try SQLiteStore.migrationPlan(
        forStoreAt: url, to: model, configuration: configuration, sources: versions)
      Terminal.print(plan.description)
      if !plan.losses.isEmpty, !allowLoss { throw ExitCode(ExitStatus.failed) }
    } else if staged {
      let plans = try SQLiteStore.migrate(
        storeAt: url, through: versions, configuration: configuration, allowsLoss: allowLoss)
      for plan in plans { Terminal.print(plan.description) }
    } else {
      Terminal.print(
        try SQLiteStore.migrate(
          storeAt: url, to: model, configuration: configuration, sources: versions, allowsLoss: allowLoss
        ).description)
    }
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
