import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

struct CopyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy", abstract: "Copies all objects of a store into a new one.",
    discussion: """
      The new store is made by the model and gets the objects in one save, with their keys, and the metadata that are not the store's own. It has an identity of \
      its own, and no history. moonbase backup makes a copy that is the same store.
      """)

  @Argument(help: ArgumentHelp("The store.", valueName: "store"), completion: .file())
  var source: String

  @Argument(
    help: ArgumentHelp("The new store, which must not be there, or be empty.", valueName: "new store"),
    completion: .file())
  var destination: String?

  @Option(
    name: StoreOption.store.parserName, help: ArgumentHelp("The store, instead of the argument.", valueName: "PATH"))
  var named: [String] = []

  @OptionGroup var file: FileOptionGroup

  @Flag(name: CommandOption.quiet.parserName, help: CommandOption.quiet.parserHelp)
  var quiet = false

  @OptionGroup var summary: SummaryOptionGroup

  func validate() throws { try understood { _ = try place() } }

  private func place() throws -> StoreAndArgument {
    try StoreAndArgument(source, destination, named: named, what: "new store")
  }

  func run() throws { try file.limits.run { _ in try copy() } }

  private func copy() throws {
    let (store, new) = (try place().store, try place().other)
    try StoreSettings.requireStore(store)
    guard URL(literalPath: store).resolvingSymlinksInPath() != URL(literalPath: new).resolvingSymlinksInPath() else {
      throw UsageError("\(new) is the store itself: name another file")
    }
    let coordinator = try file.coordinatorOfStoredValues(store)
    let isNew = access(new, F_OK) != 0
    do {
      let other = try SQLiteStore(url: URL(literalPath: new), model: coordinator.model)
      guard let source = coordinator.persistentStores.first else { return }
      try coordinator.migratePersistentStore(source, to: other)
      try tell(coordinator, store, new)
    } catch {
      if isNew { for ending in ["", "-wal", "-shm"] { unlink(new + ending) } }
      throw error
    }
  }

  private func tell(_ coordinator: PersistentStoreCoordinator, _ store: String, _ new: String) throws {
    guard !quiet || summary.json else { return }
    let context = try ManagedObjectContext(coordinator)
    let count = try context.model.entities.filter { $0.parent == nil }.reduce(0) {
      try $0 + context.count(FetchRequest($1.name))
    }
    try summary.tell(
      ["store": .string(store), "copy": .string(new), "objects": .count(count)], quiet: quiet,
      lines: ["\(count) object\(count == 1 ? "" : "s") in \(new)"])
  }
}
