import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

/// `moonbase backup`: copies a store to a new file as the same store.
///
/// The copy is made through SQLite, so it is one state of the store even if other processes write.
/// It gets its name when it is complete.
struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copies a store, which may be in use, with the values that it keeps in files.",
    discussion: """
      The copy is one state of the store, whatever is saved meanwhile. It appears under its name when it is complete; a backup that \
      fails or is interrupted leaves nothing. The backup of a store in PostgreSQL is a SQLite file with the same identity, and without the \
      history. moonbase copy FILE ADDRESS brings its objects back to a server.
      """)

  @Argument(
    help: ArgumentHelp(
      "The store; --store names it too, or the project, and the file stands alone then.", valueName: "store"))
  var first: String

  @Argument(help: ArgumentHelp("The file that is to be the copy.", valueName: "file"), completion: .file())
  var second: String?

  @Option(name: StoreOption.store.parserName, help: StoreArgument.optionHelp)
  var named: [String] = []

  @Flag(help: "Replace a store that is there already.")
  var force = false

  @OptionGroup var patience: PatienceOptionGroup

  @Flag(help: "No word but errors on standard error.")
  var quiet = false

  @OptionGroup var summary: SummaryOptionGroup

  /// Checks the arguments before the command starts.
  func validate() throws { try understood { _ = try place() } }

  /// The store and the file, in whichever way the command line names them.
  private func place() throws -> StoreAndArgument {
    let place = try StoreAndArgument(first, second, named: named, what: "file")
    try NamedStore(place.other).requireFile("moonbase copy STORE ADDRESS copies the objects there")
    return place
  }

  /// Makes the copy, and prints a summary. Throws if the file exists and `force` is not given.
  func run() throws {
    let (store, file) = (try place().store, try place().other)
    try Project.requireStore(store)
    try place().place.requireConfiguration(busyTimeout: patience.duration())
    Interruption.isWaitedFor()
    let bar = ProgressBar(quiet: quiet)
    defer { bar.end() }
    let destination = URL(literalPath: file)
    try place().place.backUp(to: destination, replacing: force, busyTimeout: patience.duration()) { progress in
      if Interruption.hasCome { throw GraphError(.interrupted, message: "interrupted: \(file) was not made") }
      bar.show(progress.completedPageCount, of: progress.totalPageCount)
    }
    bar.end()
    let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
    try summary.tell(
      ["store": .string(try place().place.name), "copy": .string(file), "size": size.map(Value.count) ?? .null],
      quiet: quiet, lines: [])
  }
}
