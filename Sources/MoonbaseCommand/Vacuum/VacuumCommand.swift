import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

/// The command `moonbase vacuum`. It rewrites the file with the statement `VACUUM` of SQLite.
/// Meanwhile, no other process can write to the store.
struct VacuumCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vacuum", abstract: "Gives up the free pages of a store's file.",
    discussion:
      "Objects, keys and metadata stay as they are. The disk needs room for a second copy of the file meanwhile.")

  @OptionGroup var place: StoreArgument
  @OptionGroup var patience: PatienceOptionGroup

  @Flag(name: StoreOption.allowsCloudKit.parserName, help: StoreOption.allowsCloudKit.parserHelp)
  var allowsCloudKit = false

  @Flag(name: CommandOption.quiet.parserName, help: CommandOption.quiet.parserHelp)
  var quiet = false

  @OptionGroup var summary: SummaryOptionGroup

  func validate() throws {
    try understood {
      try place.place.requireFile("the server frees pages by itself (autovacuum), or by VACUUM in psql")
    }
  }

  /// Rewrites the file, and prints the new size and the number of freed bytes.
  ///
  /// - Throws: `.readOnlyStore` for a store that CloudKit mirrors, and `.storeBusy` if another
  /// process uses the store.
  func run() throws {
    try StoreSettings.requireStore(place.path)
    try place.place.requireConfiguration(busyTimeout: patience.duration())
    let url = URL(literalPath: place.path)
    let facts = try SQLiteStore.facts(ofStoreAt: url, model: nil, busyTimeout: patience.duration())
    guard allowsCloudKit || !facts.isMirrored else {
      throw GraphError(
        .readOnlyStore,
        message: "\(place.path) is mirrored by CloudKit and stays as it is: --allow-cloudkit writes it all the same")
    }
    let (before, after) = try SQLiteStore.vacuum(storeAt: url, busyTimeout: patience.duration())
    try summary.tell(
      ["store": .string(place.path), "size": .count(after), "freed": .count(before - after)], quiet: quiet,
      lines: ["\(place.path): \(after) bytes, \(before - after) fewer than before"])
  }
}
