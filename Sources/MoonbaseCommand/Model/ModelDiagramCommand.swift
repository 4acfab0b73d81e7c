import ArgumentParser
import Moonbase
import MoonbaseModelFormats
import MoonbasePlatform

/// The command `moonbase model diagram`. `ModelDiagram` draws the picture, and this type selects
/// the format and the destination.
struct ModelDiagramCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diagram", abstract: "Draws a model: entities, relationships, inheritance.",
    discussion: """
      Prints SVG, or with --format mermaid a class diagram of Mermaid. The picture has light colours, and dark ones on a \
      screen that is dark.
      """)

  /// The format of a diagram.
  enum Format: String, CaseIterable, ExpressibleByArgument {
    /// A picture, or a text for Mermaid.
    case svg, mermaid
  }

  @Argument(
    help: ArgumentHelp("The model: \(ModelFile.forms). Without one that of the project.", valueName: "model"))
  var named: String?

  @Option(help: ArgumentHelp("svg or mermaid.", valueName: "FORM"))
  var format: Format?

  @Option(
    help: ArgumentHelp(
      "Write to a file, .svg, or .mmd for --format mermaid; other suffixes need --format.", valueName: "FILE"),
    completion: .file())
  var output: String?

  @Option(help: ArgumentHelp("The title, instead of the model's name.", valueName: "TEXT"))
  var title: String?

  @Flag(help: "Replace a file that is there already.")
  var force = false

  @OptionGroup var project: ProjectOptionGroup

  /// Draws the model, and prints the diagram or writes the file.
  func run() throws {
    let path = try ModelFile.path(named)
    let diagram = try ModelDiagram(ModelFile.read(path), title: title ?? ModelFile.title(path))
    let text =
      switch try form() {
      case .svg: diagram.svg
      case .mermaid: title.map { diagram.mermaid(title: $0) } ?? diagram.mermaid
      }
    guard let output else { return Terminal.write(text) }
    let file = try OutputDestination(file: output, replacing: force)
    try Data(text.utf8).withUnsafeBytes { try file.write($0) }
    try file.finish()
  }
  /// The format that the options or the suffix of the file give. A suffix of another format is an error.
  ///
  /// - Throws: A `UsageError` if option and suffix contradict each other.
  private func form() throws -> Format {
    guard let output else { return format ?? .svg }
    let suffix = URL(fileURLWithPath: output).pathExtension.lowercased()
    let said = Format.suffixes[suffix] ?? (suffix.isEmpty ? format ?? .svg : nil)
    if let said, format == nil || format == said { return said }
    if let format, said == nil, !Format.foreignSuffixes.contains(suffix) { return format }
    let option = format.map { ", and --format says \($0)" } ?? ""
    throw UsageError(
      "\(output) cannot be written: a diagram is .svg (SVG) or .mmd (Mermaid)\(option): name a file with such a suffix"
        + (format == nil && !Format.foreignSuffixes.contains(suffix) ? ", or give --format" : ""))
  }
}

extension ModelDiagramCommand.Format {
  /// The formats by the suffix of a file.
  fileprivate static let suffixes: [String: Self] = ["svg": .svg, "mmd": .mermaid, "mermaid": .mermaid]
  /// The suffixes of image and document formats that are not supported.
  fileprivate static let foreignSuffixes: Set = [
    "bmp", "dot", "eps", "gif", "htm", "html", "jpeg", "jpg", "pdf", "png", "ps", "tif", "tiff", "webp",
  ]
}
