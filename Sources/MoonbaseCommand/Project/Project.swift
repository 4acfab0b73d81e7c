import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// The contents of `moonbase.project.lua`. They name the store, the model and the extensions for commands in its
/// folder.
struct Project: Equatable {
  /// The name of the file.
  static let fileName = "moonbase.project.lua"

  /// A store for a configuration, or the only store.
  struct Store: Equatable {
    var configuration: String?
    var path: ProjectPath
  }

  /// An extension with its own limits and permissions.
  struct Extension: Equatable {
    var path: ProjectPath
    var limits: ExtensionLimits?
    var grants: Grants?
  }

  /// The files and variables that an extension may use in addition to its sandbox.
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

  /// The project file, and its folder as commands name it.
  let file: String
  let folder: String
  var stores: [Store] = []
  var model: ProjectPath?
  var extensions: [Extension] = []
  var sandbox: LuaPreset?
  var format: OutputFormat?

  /// The stores with the paths that commands use.
  func namedStores() throws(UsageError) -> [NamedStore] {
    var all: [NamedStore] = []
    for store in stores { all.append(NamedStore(configuration: store.configuration, path: try store.path.resolved())) }
    return all
  }

  /// The only store, or nil if there is none. Throws if there are several stores.
  func onlyStore() throws(UsageError) -> NamedStore? {
    let all = try namedStores()
    guard all.count > 1 else { return all.first }
    throw UsageError(
      "\(file) names several stores, \(all.phrase), and this command takes one: name it, as in --store \(all[0].path)")
  }
}

extension Project {
  /// Throws if the project names a store that does not exist yet. The error names the commands that create it.
  static func requireStore(_ path: String) throws {
    guard access(path, F_OK) != 0, errno == ENOENT, let project = try current() else { return }
    let url = URL(literalPath: path)
    for store in project.stores where try URL(literalPath: store.path.resolved()) == url {
      try store.path.require(
        orElse: "moonbase run \(project.script), or moonbase import ENTITY FILE, makes it", isYetToCome: true)
    }
  }

  /// The script that `moonbase init` writes, if it exists.
  private var script: String {
    let path = folder == "." ? "script.lua" : "\(folder)/script.lua"
    return access(path, F_OK) == 0 ? path : "SCRIPT"
  }

  /// The reason why no store is known, for messages.
  static var lackOfStore: String {
    guard let project = try? current() else { return "" }
    return "\(project.file) names none: add store = \"FILE.sqlite\" to it, or "
  }
}

/// A path in a project file. It is relative to the folder of this file, and must be within it.
struct ProjectPath: Equatable {
  let text: String
  /// The folder of the project.
  let folder: String
  /// The position in the project file, such as `moonbase.project.lua:3:11`.
  let place: String
  /// The phrase for messages, and the option that can name any other path.
  let what: String
  let option: String
  /// The key in the project file that contains the path.
  let key: String

  /// The path as commands use it. Throws if it is outside of the folder, also through links.
  func resolved() throws(UsageError) -> String {
    let path = folder == "." ? text : "\(folder)/\(text)"
    guard !text.hasPrefix("/"), !text.isEmpty, !text.utf8.contains(0),
      LuaFileAccess(readablePaths: [folder], writablePaths: []).allows(path, writing: false)
    else {
      let beginning = key == "grants" ? "\(place): grants" : place
      throw UsageError(
        "\(beginning): the \(what) '\(text)' does not lie below the project's folder, \(folder == "." ? "this one" : folder): \(remedy)"
      )
    }
    return path
  }

  private var remedy: String {
    guard key == "grants" else { return "name it with \(option)" }
    return "an extension is granted folders below it, as in read = \"words\" or { \"words\", \"data\" }; "
      + "a script is granted others on the command line, \(option)=\(text)"
  }

  /// Throws if the file does not exist.
  func require(orElse advice: String? = nil, isYetToCome: Bool = false) throws {
    guard try access(resolved(), F_OK) != 0, errno == ENOENT else { return }
    throw GraphError(
      .cannotOpenFile,
      message: "\(place): \(key): \(text) does not exist\(isYetToCome ? " yet" : ""): "
        + (advice ?? "correct the path, or name another one with \(option)"))
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
