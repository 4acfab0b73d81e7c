import ArgumentParser
import Moonbase
import MoonbaseModelFormats

/// The command `moonbase model swift`. `SwiftModel` generates the source, and `SwiftFiles` writes
/// it.
struct ModelSwift: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "swift", abstract: "Writes classes in Swift with a typed property for each property of a model.",
    discussion: """
      Prints all of them. With --output each class gets two files in a folder, as Xcode makes them: Person.swift, to be \
      gone on with, which stays where it is there already, and Person+Properties.swift, which is written anew each time.
      """)

  @Argument(
    help: ArgumentHelp("The model: \(ModelFile.forms). Without one that of the project.", valueName: "model"))
  var named: String?

  @Option(help: ArgumentHelp("Write files into a folder.", valueName: "FOLDER"), completion: .directory)
  var output: String?

  @Flag(help: "Make classes and properties public.")
  var `public` = false

  @Flag(help: "No word but errors on standard error.")
  var quiet = false

  @OptionGroup var project: ProjectOptionGroup

  /// Prints the classes, or writes them into the folder. Names that Swift does not allow are
  /// reported on standard error.
  func run() throws {
    let path = try ModelFile.path(named)
    let source = try SwiftModel(try ModelFile.read(path), name: ModelFile.title(path), isPublic: `public`)
    if !quiet { source.notes.forEach { Terminal.complain("moonbase: \($0)") } }
    guard let output else { return Terminal.write(source.text()) }
    try SwiftFiles(folder: output).write(source.files)
  }
}
