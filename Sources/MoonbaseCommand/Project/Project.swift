import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// The contents of `moonbase.project.lua`. They name the store, the model and the extensions for commands in its
/// folder.
///
/// A project is found in the current folder or a folder above it, once per process. Options and
/// environment variables have precedence over it. `ProjectReader` creates it without running the
/// file.
struct Project: Equatable {
  /// The name of the file.
  static let fileName = "moonbase.project.lua"

  /// A store for a configuration, or the only store.
  struct Store: Equatable {
    /// The name of the configuration, or nil.
    var configuration: String?
    /// The path of the store.
    var path: ProjectPath
  }

  /// An extension with its own limits and permissions.
  struct Extension: Equatable {
    /// The path of the extension.
    var path: ProjectPath
    /// The limits for each call of its functions, or nil.
    var limits: ExtensionLimits?
    /// The additional permissions, or nil.
    var grants: Grants?
  }

  /// The files and variables that an extension may use in addition to its sandbox.
  struct Grants: Equatable {
    /// Files and folders that the extension may read.
    var readable: [ProjectPath] = []
    /// Files and folders that the extension may write.
    var writable: [ProjectPath] = []
    /// Environment variables that the extension may read.
    var variables: [String] = []

    /// The permissions in the form that Lua states use.
    ///
    /// - Throws: A `UsageError` for a path outside of the project's folder.
    func access() throws(UsageError) -> LuaFileAccess {
      LuaFileAccess(
        readablePaths: try readable.resolved(), writablePaths: try writable.resolved(),
        variables: Set(variables))
    }
  }

  /// The project file, and its folder as commands name it.
  let file: String
  /// The folder of the file, or `.` for the current folder.
  let folder: String
  /// The stores in the order of the file.
  var stores: [Store] = []
  /// The path of the model, or nil.
  var model: ProjectPath?
  /// The extensions in the order of the file.
  var extensions: [Extension] = []
  /// The preset of the sandbox, or nil.
  var sandbox: LuaPreset?
  /// The format of rows, or nil.
  var format: OutputFormat?

  /// The stores with the paths that commands use.
  ///
  /// - Throws: A `UsageError` for a path outside of the project's folder.
  func namedStores() throws(UsageError) -> [NamedStore] {
    var all: [NamedStore] = []
    for store in stores { all.append(NamedStore(configuration: store.configuration, path: try store.path.resolved())) }
    return all
  }

  /// The only store, or nil if there is none. Throws if there are several stores.
  ///
  /// - Throws: A `UsageError` that names the stores.
  func onlyStore() throws(UsageError) -> NamedStore? {
    let all = try namedStores()
    guard all.count > 1 else { return all.first }
    throw UsageError(
      "\(file) names several stores, \(all.phrase), and this command takes one: name it, as in --store \(all[0].path)")
  }
}

extension Project {
  /// Throws if the project names a store that does not exist yet. The error names the commands that create it.
  ///
  /// - Parameter path: The path of the store that a command needs.
  /// - Throws: `.cannotOpenFile` with the position in the project file.
  static func requireStore(_ path: String) throws {
    guard access(path, F_OK) != 0, errno == ENOENT, let project = try current() else { return }
    let url = URL(literalPath: path)
    for store in project.stores where try URL(literalPath: store.path.resolved()) == url {
      try store.path.require(
        orElse: "moonbase run \(project.script), or moonbase import ENTITY FILE, makes it", isYetToCome: true)
    }
  }

  /// The script that `moonbase init` writes, if it exists.
  ///
  /// Otherwise, the placeholder `SCRIPT`.
  private var script: String {
    let path = folder == "." ? "script.lua" : "\(folder)/script.lua"
    return access(path, F_OK) == 0 ? path : "SCRIPT"
  }

  /// The reason why no store is known, for messages.
  ///
  /// It is empty if there is no project.
  static var lackOfStore: String {
    guard let project = try? current() else { return "" }
    return "\(project.file) names none: add store = \"FILE.sqlite\" to it, or "
  }
}

/// A path in a project file. It is relative to the folder of this file, and must be within it.
///
/// The restriction protects a user who runs a command in a folder from an unknown source. A project
/// file there cannot make commands read or write other files.
struct ProjectPath: Equatable {
  /// The path as written in the file.
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
  ///
  /// - Throws: A `UsageError` with the position and the option for other paths.
  func resolved() throws(UsageError) -> String {
    let path = folder == "." ? text : "\(folder)/\(text)"
    guard !text.hasPrefix("/"), !text.isEmpty, !text.utf8.contains(0),
      LuaFileAccess(readablePaths: [folder], writablePaths: []).allows(path, writing: false)
    else {
      let beginning = key == "grants" ? "\(place): grants" : place
      guard !PersistentStoreDescription.isAddress(text) else {
        throw UsageError(
          "\(beginning): the \(what) of a project is a file: name an address with \(option), or in MOONBASE_STORE")
      }
      throw UsageError(
        "\(beginning): the \(what) '\(text)' does not lie below the project's folder, \(folder == "." ? "this one" : folder): \(remedy)"
      )
    }
    return path
  }

  /// The advice for a path outside of the folder.
  private var remedy: String {
    guard key == "grants" else { return "name it with \(option)" }
    return "an extension is granted folders below it, as in read = \"words\" or { \"words\", \"data\" }; "
      + "a script is granted others on the command line, \(option)=\(text)"
  }

  /// Throws if the file does not exist.
  ///
  /// - Parameters: - advice: The advice for the user, or nil for the usual advice. - isYetToCome:
  /// Whether a command creates the file later.
  /// - Throws: `.cannotOpenFile` with the position in the project file.
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
  ///
  /// - Throws: The error of the first path outside of the folder.
  func resolved() throws(UsageError) -> [String] {
    var paths: [String] = []
    for path in self { paths.append(try path.resolved()) }
    return paths
  }
}
