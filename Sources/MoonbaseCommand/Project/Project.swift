import MoonbaseLua
import MoonbasePlatform
import MoonbaseScripting

/// The contents of `moonbase.project.lua`: the store, the model and the extensions that commands in its folder work
/// with.
struct Project: Equatable {
  /// The name of the file.
  static let fileName = "moonbase.project.lua"

  /// A store of a configuration, or the one store.
  struct Store: Equatable {
    var configuration: String?
    var path: ProjectPath
  }

  /// An extension, with limits and grants of its own.
  struct Extension: Equatable {
    var path: ProjectPath
    var limits: ExtensionLimits?
    var grants: Grants?
  }

  /// The files and variables of an extension beyond its sandbox.
  struct Grants: Equatable {
    var readable: [ProjectPath] = []
    var writable: [ProjectPath] = []
    var variables: [String] = []

    func access() throws(UsageError) -> LuaFileAccess {
      LuaFileAccess(
        readablePaths: try readable.resolved(), writablePaths: try writable.resolved(),
        variables: Set(variables))
    }
  }

  /// The file, and its folder as commands name it.
  let file: String
  let folder: String
  var stores: [Store] = []
  var model: ProjectPath?
  var extensions: [Extension] = []
  var sandbox: LuaPreset?
  var format: OutputFormat?

  /// The path of the one store; nil where there is none. Throws where there are several.
  func onlyStore() throws(UsageError) -> String? {
    guard stores.count < 2 else {
      let names = stores.compactMap(\.configuration).joined(separator: ", ")
      throw UsageError("\(file) names several stores (\(names)), and this command takes one: name it")
    }
    return try stores.first?.path.resolved()
  }
}

/// A path in a project file: relative to the file's folder, and below it.
struct ProjectPath: Equatable {
  let text: String
  /// The folder of the project.
  let folder: String
  /// The place that names it, as `moonbase.project.lua:3:11`.
  let place: String
  /// The word for it in messages, and the option that may name any other path.
  let what: String
  let option: String

  /// The path as commands use it. Throws where it leads out of the folder, also over links.
  func resolved() throws(UsageError) -> String {
    let path = folder == "." ? text : "\(folder)/\(text)"
    guard !text.hasPrefix("/"), !text.isEmpty, !text.utf8.contains(0),
      LuaFileAccess(readablePaths: [folder], writablePaths: []).allows(path, writing: false)
    else {
      throw UsageError(
        "\(place): the \(what) '\(text)' does not lie below the project's folder, \(folder == "." ? "this one" : folder): name it with \(option)"
      )
    }
    return path
  }
}

extension [ProjectPath] {
  /// The paths as commands use them.
  func resolved() throws(UsageError) -> [String] {
    var paths: [String] = []
    for path in self { paths.append(try path.resolved()) }
    return paths
  }
}
