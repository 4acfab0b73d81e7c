import ArgumentParser
import Moonbase
import MoonbaseModelFormats
import MoonbasePlatform

struct ModelDiagramCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diagram", abstract: "Draws a model: entities, relationships, inheritance.",
    discussion: """
      Prints SVG, or with --format mermaid a class diagram of Mermaid. The picture has light colours, and dark ones on a \
      screen that is dark.
      """)

  /// How a diagram is written.
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case svg, mermaid
  }

  @Argument(
    help: ArgumentHelp("The model: \(ModelFile.forms). Without one that of the project.", valueName: "model"))
  var named: String?

  @Option(help: ArgumentHelp("svg or mermaid.", valueName: "FORM"))
  var format: Format?

  @Option(help: ArgumentHelp("Write to a file; .mmd stands for --format mermaid.", valueName: "FILE"))
  var output: String?

  @Option(help: ArgumentHelp("The title, instead of the model's name.", valueName: "TEXT"))
  var title: String?

  @Flag(help: "Replace a file that is there already.")
  var force = false

  @OptionGroup var project: ProjectOptionGroup

  func run() throws {
    let path = try ModelFile.path(named)
    let diagram = ModelDiagram(try ModelFile.read(path), title: title ?? ModelFile.name(of: path))
    let form = format ?? (output?.hasSuffix(".mmd") == true ? .mermaid : .svg)
    let text = form == .svg ? diagram.svg : diagram.mermaid
    guard let output else { return Terminal.write(text) }
    let file = try OutputDestination(file: output, replacing: force)
    try Data(text.utf8).withUnsafeBytes { try file.write($0) }
    try file.finish()
  }
}
