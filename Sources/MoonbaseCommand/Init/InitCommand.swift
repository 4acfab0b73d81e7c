import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The command `moonbase init`. It writes the files of a `StartedProject` into a folder. Existing
/// files are never replaced, so that the command can be used safely in any folder.
struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Makes a project to start from.",
    discussion: """
      moonbase init people && cd people && moonbase test && moonbase run script.lua

      The folder gets a project file, a model, an extension with a transformer, a rule and a derived attribute, a script, data, a test, files \
      for an editor and a README. --from makes it around a store or rows of csv, tsv, json or ndjson, which are copied into the folder. Files that are \
      there are not touched: where one of them is in the way, nothing is made.

      Extensions that saves of the store ran with come along by --extension PATH, or are given up by --without-extension NAME.
      """)

  @Argument(help: ArgumentHelp("The folder (default: the current one).", valueName: "folder"), completion: .directory)
  var folder: String = "."

  @Option(
    help: ArgumentHelp("A store, [CONFIG=]PATH, or a file of rows, that the project is about.", valueName: "file"),
    completion: .file()
  )
  var from: [String] = []

  @Option(
    name: StoreOption.modules.parserName,
    help: ArgumentHelp(
      "An extension that saves of the store ran with, whose files are copied into the project; repeatable.",
      valueName: "PATH"), completion: .file())
  var extensions: [String] = []

  @Option(
    name: StoreOption.withoutExtension.parserName,
    help: ArgumentHelp(
      "An extension that saves of the store ran with, and that the copy of the store is to forget; repeatable.",
      valueName: "NAME"))
  var withoutExtensions: [String] = []

  @Flag(name: CommandOption.quiet.parserName, help: CommandOption.quiet.parserHelp)
  var quiet = false

  @OptionGroup var summary: SummaryOptionGroup

  /// Rejects an empty folder name, and options for extensions without a store.
  func validate() throws {
    if folder.isEmpty { throw ValidationError("init takes the name of a folder") }
    if PersistentStoreDescription.isAddress(folder) {
      throw ValidationError("init takes the name of a folder, and a store on a server behind --from")
    }
    if from.isEmpty, !extensions.isEmpty || !withoutExtensions.isEmpty {
      throw ValidationError("--extension and --without-extension are for a store: name it, --from STORE")
    }
    if from.count > 1 { throw ValidationError("--from names one file: leave '\(from[1])' out") }
  }

  /// Creates the project, and prints the commands to try first.
  func run() throws {
    let project =
      try from.first.map { try StartedProject.around($0, extensions, without: withoutExtensions) }
      ?? StartedProject.people()
    try project.write(into: folder)
    let enter = folder == "." ? "" : "cd \(folder) && "
    let place = folder == "." ? "this folder" : folder
    try summary.tell(
      [
        "folder": .string(folder),
        "files": .texts(project.files.map(\.name) + [project.store?.name].compactMap(\.self)),
      ],
      quiet: quiet,
      lines: [
        "\(project.files.count) files and those of an editor are in \(place): \(enter)moonbase test && moonbase run script.lua"
      ])
  }
}
