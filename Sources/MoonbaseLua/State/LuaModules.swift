public import MoonbasePlatform

/// The modules available to `require`: modules added by the host, then files below the granted folders.
///
/// ```swift
/// state.modules.add("settings", source: LuaSource("return { depth = 3 }", name: "settings.lua"))
/// state.modules.add("clock") { state in .table(try state.table(["zone": "UTC"])) }
/// state.modules.roots = [scripts]
/// ```
///
/// A property of a state, and changed before scripts run. Names have parts separated by dots, as in `moonbase.json`.
/// Modules of the host come first, then shipped modules, then files.
public struct LuaModules {
  /// Creates the value of a module.
  public typealias Loader = (LuaState) throws -> LuaValue

  /// A module of the host.
  enum Entry {
    /// A source, loaded at the first `require`.
    case source(LuaSource, frozen: Bool)
    /// A value that the host makes.
    case loader(Loader)
  }

  /// By name.
  var entries: [String: Entry] = [:]
  /// Refuses files that the program uses itself.
  var guardian: (any LuaFileGuard)?

  /// The folders in which `a.b` is looked up as `a/b.lua` and `a/b/init.lua`.
  public var roots: [URL] {
    get { rootPaths.map { URL(literalPath: $0) } }
    set { rootPaths = newValue.map(\.path) }
  }

  /// The folders of `roots`, as paths.
  public var rootPaths: [String] = []

  /// No modules.
  public init() {}

  /// Adds a module from a source. With `frozen` all scripts share a read-only table. A module of the same name is
  /// replaced.
  public mutating func add(_ name: String, source: LuaSource, frozen: Bool = true) {
    entries[name] = .source(source, frozen: frozen)
  }

  /// Adds a module whose value the host creates at the first `require`. In a state the loader is called once, within
  /// the run of the script.
  public mutating func add(_ name: String, _ loader: @escaping Loader) { entries[name] = .loader(loader) }

  /// Whether a text is a module name: letters, digits, `_` and `-`, in parts separated by single dots. A name never
  /// leads out of a root.
  static func isName(_ name: String) -> Bool {
    // A script may pass any text; a long one is refused at once.
    guard name.utf8.count <= 200 else { return false }
    return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
      !part.isEmpty
        && part.utf8.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
          default: false
          }
        }
    }
  }

  /// Reads the module with this name below these folders; nil if there is none. Used for modules of extensions. Throws
  /// `LuaError` for a file that cannot be read or is too large.
  package static func read(
    _ name: String, below folders: [String], limit: Int?
  ) throws -> (source: LuaSource, path: String)? {
    var modules = LuaModules()
    modules.rootPaths = folders
    guard isName(name), let file = modules.file(name) else { return nil }
    // Each of several folders may have a module with this name.
    let folder = Set(folders).count > 1 ? String(file.path.dropLast(file.name.count + 1)) : ""
    let prefix = folder.split(separator: "/").last.map { "\($0)/" } ?? ""
    let source = try UnlinkedPath.$isRequired.withValue(true) {
      try LuaSource(path: file.path, name: prefix + file.name, limit: limit)
    }
    return (source, file.path)
  }

  /// The file of a module: its path without links, and its name in messages, which is the path below the root, to
  /// distinguish `init.lua` files. Files outside of their root, by a link, are ignored.
  func file(_ name: String) -> (path: String, name: String)? {
    let path = name.replacing(".", with: "/")
    for root in rootPaths {
      guard let folder = FileIdentity.truePath(root) else { continue }
      for candidate in ["\(path).lua", "\(path)/init.lua"] {
        guard let file = FileIdentity.truePath("\(folder)/\(candidate)"),
          file.hasPrefix(folder == "/" ? "/" : folder + "/")
        else { continue }
        return (file, candidate)
      }
    }
    return nil
  }

  /// The names of the module files directly in the roots. For completion and suggestions. Subfolders are not listed.
  package var namesInFolders: [String] {
    let files = rootPaths.flatMap { (try? FileManager.default.contentsOfDirectory(atPath: $0)) ?? [] }
    return Set(files.filter { $0.hasSuffix(".lua") }.map { String($0.dropLast(4)) }.filter(Self.isName)).sorted()
  }
}
