import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

#if PostgreSQL
  import MoonbasePostgreSQLStore
#endif

/// The command `moonbase vacuum`. It rewrites the file, or the tables on the server, with the
/// statement `VACUUM`. Meanwhile, no other process can write to the store.
struct VacuumCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vacuum", abstract: "Gives up the free pages of a store's file, or of its tables on a server.",
    discussion: """
      Objects, keys and metadata stay as they are. The disk needs room for a second copy of the file meanwhile. In PostgreSQL each table is \
      written anew (VACUUM FULL), and other processes wait for that table meanwhile.
      """)

  @OptionGroup var place: StoreArgument
  @OptionGroup var patience: PatienceOptionGroup

  @Flag(name: StoreOption.allowsCloudKit.parserName, help: StoreOption.allowsCloudKit.parserHelp)
  var allowsCloudKit = false

  @Flag(name: CommandOption.quiet.parserName, help: CommandOption.quiet.parserHelp)
  var quiet = false

  @OptionGroup var summary: SummaryOptionGroup

  /// Rewrites the file, and prints the new size and the number of freed bytes.
  ///
  /// - Throws: `.readOnlyStore` for a store that CloudKit mirrors, and `.storeBusy` if another
  /// process uses the store.
  func run() throws {
    try StoreSettings.requireStore(place.path)
    try place.place.requireConfiguration(busyTimeout: patience.duration())
    let (before, after) = try place.place.isOnServer ? vacuumServer() : vacuumFile()
    let name = place.place.name
    try summary.tell(
      ["store": .string(name), "size": .count(after), "freed": .count(before - after)], quiet: quiet,
      lines: ["\(name): \(after) bytes, \(before - after) fewer than before"])
  }

  /// Returns the sizes of the file before and after.
  private func vacuumFile() throws -> (before: Int, after: Int) {
    let url = URL(literalPath: place.path)
    let facts = try SQLiteStore.facts(ofStoreAt: url, model: nil, busyTimeout: patience.duration())
    guard allowsCloudKit || !facts.isMirrored else {
      throw GraphError(
        .readOnlyStore,
        message: "\(place.path) is mirrored by CloudKit and stays as it is: --allow-cloudkit writes it all the same")
    }
    return try SQLiteStore.vacuum(storeAt: url, busyTimeout: patience.duration())
  }

  /// Returns the sizes of the tables before and after.
  private func vacuumServer() throws -> (before: Int, after: Int) {
    #if PostgreSQL
      return try PostgreSQLStore.vacuum(storeAt: place.place.address, busyTimeout: patience.duration())
    #else
      // Throws, because this build opens no address.
      _ = try place.place.description.keptMetadata()
      return (0, 0)
    #endif
  }
}
