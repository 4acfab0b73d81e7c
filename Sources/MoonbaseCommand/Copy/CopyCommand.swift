import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

#if PostgreSQL
  import MoonbasePostgreSQLStore
#endif

/// `moonbase copy`: copies all objects into a new store with an identity of its own.
///
/// In contrast to `backup`, the new store may have another configuration, and it has no history. It
/// gets its name when it is complete.
struct CopyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy", abstract: "Copies all objects of a store into a new one.",
    discussion: """
      The new store is made by the model and gets the objects with their keys, and the metadata that are not the store's own. It has an identity of \
      its own, and no history. It appears under its name when it is complete; a copy that fails or is interrupted leaves nothing. moonbase backup \
      makes a copy that is the same store. Both stores may be files, or addresses of PostgreSQL.

      Exit status: 0 if all objects are in the new store; 4 if rows were left out that are of no entity of the model.
      """)

  @Argument(help: ArgumentHelp("The store, [CONFIG=]PATH.", valueName: "store"), completion: .file())
  var source: String

  @Argument(
    help: ArgumentHelp(
      "The new store, [CONFIG=]PATH, which must not be there. It has the configuration of the store unless one is named.",
      valueName: "new store"), completion: .file())
  var destination: String?

  @Option(
    name: StoreOption.store.parserName, help: StoreArgument.optionHelp, completion: .file())
  var named: [String] = []

  @OptionGroup var file: FileOptionGroup

  @Flag(name: CommandOption.quiet.parserName, help: CommandOption.quiet.parserHelp)
  var quiet = false

  @OptionGroup var summary: SummaryOptionGroup

  /// Checks the arguments before the command starts.
  func validate() throws { try understood { _ = try place() } }

  /// The two stores, in whichever way the command line names them.
  private func place() throws -> StoreAndArgument {
    try StoreAndArgument(source, destination, named: named, what: "new store")
  }

  /// Runs the copy within the limits of the command.
  func run() throws { try file.limits.run { _ in try copy() } }

  /// Makes the new store, fills it and prints a summary.
  private func copy() throws {
    let (store, destination) = (try place().place, NamedStore(try place().other).inProject)
    try StoreSettings.requireStore(store.path)
    let (from, to) = (URL(literalPath: store.path), URL(literalPath: destination.path))
    guard store.isOnServer || from.resolvingSymlinksInPath() != to.resolvingSymlinksInPath() else {
      throw UsageError("\(destination.path) is the store itself: name another file")
    }
    let held = try file.withHeldConfiguration(store)
    // A signal waits until there is a store to remove.
    Interruption.isWaitedForAtTheEnd()
    let new = try place(for: destination)
    let watch = EndingWatch("\(destination.name) was not made") { [weak new] in new?.discard() }
    defer { watch.end() }
    let count: Int, leftOut: LeftOutRows
    do {
      (count, leftOut) = try copy(held, to: new, as: destination)
      try new.moveIntoPlace()
    } catch {
      watch.waitForEnd()
      throw (error as? GraphError).map(new.named) ?? error
    }
    leftOut.tell("copied")
    try tell(store.name, destination.name, count, leftOut)
    if !leftOut.isEmpty { throw ExitCode(ExitStatus.rejects) }
  }

  /// The time to wait for other processes.
  private func patience() throws(UsageError) -> Duration? { try file.patience.duration() }

  /// Prepares the place where the new store is made.
  private func place(for destination: NamedStore) throws -> any UnfinishedStore {
    guard destination.isOnServer else {
      return try NewStore(at: URL(literalPath: destination.path), busyTimeout: patience())
    }
    #if PostgreSQL
      return try NewSchema(at: destination.address, busyTimeout: patience())
    #else
      // Throws, because this build opens no address.
      _ = try destination.description.keptMetadata()
      throw UsageError("a store on a server cannot be made")
    #endif
  }

  /// Fills the new store, and closes both stores. Returns the number of objects.
  ///
  /// SIGINT, SIGTERM and SIGHUP remove the incomplete store.
  private func copy(
    _ store: NamedStore, to new: any UnfinishedStore, as destination: NamedStore
  ) throws -> (Int, LeftOutRows) {
    let coordinator = try file.coordinatorOfStoredValues(store)
    guard let source = coordinator.persistentStores.first else { return (0, LeftOutRows()) }
    let leftOut = try LeftOutRows(of: source)
    try destination.entities(in: coordinator.model.description)
    let held = destination.configuration ?? store.configuration
    var description: PersistentStoreDescription =
      destination.isOnServer ? .postgreSQL(new.url, configuration: held) : .sqlite(new.url, configuration: held)
    description.busyTimeout = try patience()
    let other = try description.open(coordinator.model)
    try coordinator.migratePersistentStore(source, to: other)
    let context = try ManagedObjectContext(coordinator)
    let count = try other.entities.filter { $0.parent == nil }.reduce(0) {
      try $0 + context.count(FetchRequest($1.name))
    }
    try coordinator.remove(other)
    return (count, leftOut)
  }

  /// Prints the summary, as text or JSON.
  private func tell(_ store: String, _ new: String, _ count: Int, _ leftOut: LeftOutRows) throws {
    try summary.tell(
      [
        "store": .string(store), "copy": .string(new), "objects": .count(count), "leftOut": leftOut.report,
      ], quiet: quiet, lines: ["\(count) object\(count == 1 ? "" : "s") in \(new)"])
  }
}
