import ArgumentParser
import Moonbase
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform

/// A model as the command line names it. This is the path of a model or a store, whose form is detected from its
/// contents, or the address of a store.
enum ModelFile {
  /// The accepted forms, for help texts.
  static let forms = "a Lua model file, .xcdatamodel(d), .mom(d), or a store, whose own model is meant"
  /// The help of an argument that names a model.
  static let help: ArgumentHelp = "The model: \(forms)."

  /// Reads and resolves a model.
  ///
  /// - Parameter path: The path of a file, a folder or a store, or the address of a store.
  /// - Throws: `.cannotOpenFile`, and the errors of reading the model.
  static func read(_ path: String) throws -> ResolvedModel {
    try ManagedObjectModel(contentsOf: url(path)).resolved()
  }

  /// The location of a model: a path, or the address of a store.
  static func url(_ name: String) -> URL { PersistentStoreDescription.address(name) ?? URL(literalPath: name) }

  /// The name of a model for messages and files: the path, or the address without a password.
  static func shown(_ name: String) -> String { NamedStore(configuration: nil, path: name).name }

  /// The title of a model: that of its file (`ModelName`), or the schema of a store on a server.
  static func title(_ name: String) throws -> String {
    let store = NamedStore(configuration: nil, path: name)
    return store.isOnServer ? try store.description.schemaName() : ModelName.of(name)
  }

  /// A model as Lua source, and a list of the information that the source cannot contain.
  ///
  /// - Parameter model: A resolved model.
  static func luaSource(of model: ResolvedModel) throws -> (source: String, losses: [String]) {
    var description = model.description
    // Information that no description can contain is only reported by `model convert`.
    description.omissions = []
    let versions = VersionedModel(versions: [.init(name: "Model", model: description)], currentName: "Model")
    let written = try WrittenModel(versions, as: .lua)
    guard case .file(let bytes) = written.piece else { return ("", []) }
    return (String(decoding: bytes, as: UTF8.self), written.losses.map(\.message))
  }

  /// The path of a model, or the path of the project's model.
  ///
  /// - Parameter named: The path on the command line, or nil.
  /// - Throws: A `UsageError` if neither the command line nor a project names a model.
  static func path(_ named: String?) throws -> String {
    if let named { return named }
    guard let path = try Project.current()?.model else {
      throw UsageError("there is no model: name one, or give one in a project file, \(Project.fileName)")
    }
    try path.require()
    return try path.resolved()
  }
}
