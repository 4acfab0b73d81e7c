import ArgumentParser
import MoonbaseModel

/// The command `moonbase model show`. The Lua text is a complete model file, so that its output can
/// be edited and used as a model.
struct ModelShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Prints a model as a Lua model file, or as JSON with its version hashes.")

  @Argument(
    help: ArgumentHelp("The model: \(ModelFile.forms). Without one that of the project.", valueName: "model"),
    completion: .file())
  var named: String?

  @Option(
    name: StoreOption.store.parserName,
    help: ArgumentHelp("The store whose model is meant, instead of the argument.", valueName: "PATH"),
    completion: .file())
  var stores: [String] = []

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var project: ProjectOptionGroup

  /// Throws if several models are named, as the argument and by `--store`.
  func validate() throws {
    guard (named == nil ? 0 : 1) + stores.count <= 1 else {
      throw ValidationError("name one model: as the argument, or the store that has it with --store")
    }
  }

  /// Prints the model. Information that a Lua file cannot contain is listed in comments before it.
  func run() throws {
    let resolved = try ModelFile.read(ModelFile.path(named ?? stores.first))
    if json {
      Terminal.print(try Terminal.json(ModelReport(resolved)))
    } else {
      let (source, losses) = try ModelFile.luaSource(of: resolved)
      losses.forEach { Terminal.print("-- not in this file: \($0)") }
      Terminal.print(source)
    }
  }
}
