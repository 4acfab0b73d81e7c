import ArgumentParser
import Moonbase
import MoonbaseBatch
import MoonbaseGraph

/// `moonbase batch drop`: removes a job from the ledger of its store, for example a job that must not go on.
struct BatchDrop: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Removes a job from a store, which then knows nothing of the job.",
    discussion: """
      The objects stay as the finished chunks left them. Workers of the job end with an error. A later run begins the job with all objects.
      """)

  @Argument(help: "The job's name, or its script.")
  var job: String

  @Argument(help: "The store (default: that of the project); --store names it too.", completion: .file())
  var store: String?

  @OptionGroup var stores: WritingOptionGroup
  @OptionGroup var limits: LimitOptionGroup

  @Flag(help: "No word but errors on standard error.")
  var quiet = false

  /// Rejects a store in place of the job.
  func validate() throws {
    guard PersistentStoreDescription.isAddress(job) || FileForm(job) == .store else { return }
    throw ValidationError("the name of the job comes first: moonbase batch drop \(store ?? "JOB") STORE")
  }

  /// Removes the job within the limits of the command.
  func run() throws { try limits.run { _ in try drop() } }

  private func drop() throws {
    let settings = try stores.settings(store)
    var description = try limits.settings().limiting(settings.container, settings)
    // The command writes no objects.
    description.missingExtensions = .ignored
    let container = try PersistentContainer(description)
    var names: [String] = []
    for store in container.coordinator.persistentStores {
      let known = try BatchJob.names(in: store)
      names += known
      guard let name = BatchJob.name(job, among: known) else { continue }
      try store.change(Ledger.change(name, of: store) { _ in nil })
      if !quiet { Terminal.complain("moonbase: the job \(name) was dropped") }
      return
    }
    throw UsageError(BatchJob.unknown(job, among: names))
  }
}
