import ArgumentParser
import MoonbaseModel

struct ModelShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Prints a model as a Lua model file, or as JSON with its version hashes.")

  @Argument(help: ModelFile.help)
  var model: String?

  @Option(help: ArgumentHelp("The store whose model is meant, instead of the argument.", valueName: "PATH"))
  var store: String?

  @Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    guard (model == nil) != (store == nil) else {
      throw ValidationError("name one model: as the argument, or the store that has it with --store")
    }
  }

  func run() throws {
    let resolved = try ModelFile.read(model ?? store ?? "")
    if json {
      Terminal.print(try Terminal.json(ModelReport(resolved)))
    } else {
      Terminal.print("\(resolved.description)")
    }
  }
}
