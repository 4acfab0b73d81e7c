import ArgumentParser
import MoonbaseModel

struct ModelShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Prints a model as a Lua model file, or as JSON with its version hashes.")

  @Argument(help: ModelFile.help)
  var model: String

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let resolved = try ModelFile.read(model)
    if json {
      Terminal.print(try Terminal.json(ModelReport(resolved)))
    } else {
      Terminal.print("\(resolved.description)")
    }
  }
}
