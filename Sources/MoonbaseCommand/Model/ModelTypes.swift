import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The command `moonbase model types`. `EditorTypes` generates the definitions of the model, and
/// `EditorFiles` writes them together with the definitions of the API.
struct ModelTypes: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "types", abstract: "Tells the Lua language server what a model and its extensions have.",
    discussion: """
      Prints definitions: a class for each entity with its attributes, relationships, derived attributes and methods, \
      requests and lists of its objects. With --output they are written below .moonbase/types of a folder, together with \
      the definitions of the API, and .luarc.json and .luacheckrc where the folder has none.
      """)

  @Argument(
    help: ArgumentHelp("The model: \(ModelFile.forms). Without one that of the project.", valueName: "model"))
  var named: String?

  @Option(
    name: StoreOption.modules.parserName, help: StoreOption.modules.parserHelp,
    completion: StoreOption.modules.parserCompletion)
  var extensions: [String] = []

  @OptionGroup var project: ProjectOptionGroup

  @Option(
    help: ArgumentHelp("Write files for an editor and a linter into a folder.", valueName: "FOLDER"),
    completion: .directory)
  var output: String?

  /// Prints or writes the definitions. Without a named model, the model and the extensions of the
  /// project are used.
  func run() throws {
    let project = try named == nil ? Project.current() : nil
    guard let model = try named ?? project?.model?.resolved() else {
      throw UsageError("there is no model: name one, or give one in a project file, \(Project.fileName)")
    }
    var settings = StoreSettings(model: model, extensions: extensions)
    try settings.complete(with: project)
    try project?.model?.require()
    try settings.requireProjectFiles()
    let text = try types(model, settings.extensions).text(of: ModelFile.shown(model))
    guard let output else { return Terminal.write(text) }
    for advice in try EditorFiles.write(model: text, into: output) { Terminal.complain("moonbase: \(advice)") }
  }

  /// The definitions of a model with its extensions. The extensions are loaded over a store in
  /// memory, to know the names of their methods and attributes.
  ///
  /// - Parameters:
  ///   - model: The path of the model.
  ///   - extensions: The paths of the extensions.
  private func types(_ model: String, _ extensions: [String]) throws -> EditorTypes {
    // The types can be written without the extensions too.
    guard !extensions.isEmpty else { return EditorTypes(try ModelFile.read(model)) }
    let file = ModelFile.url(model)
    var description = ContainerDescription(model: .file(file), extensions: extensions.map(ExtensionSource.path))
    description.stores = [.inMemory]
    let container = try PersistentContainer(description)
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    let methods = context.extensionRegistry.extensions.mapValues { entries in
      Array(Set(entries.flatMap { $0.methods.keys }))
    }
    return EditorTypes(context.model, methods: methods)
  }
}
