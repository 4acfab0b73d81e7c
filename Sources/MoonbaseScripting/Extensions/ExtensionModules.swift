import MoonbaseLua
import MoonbasePlatform

/// The modules of a generation of extensions, cached at first use, so that contexts and stores made later run the same
/// text.
///
/// An extension searches modules in its own folder first, then in the folders of the other extensions.
///
/// Shared by all states of the generation, on any thread; a lock protects the cache. A module that is not found is
/// cached as well, so that a new file does not change a running generation.
final class ExtensionModules: Sendable {
  fileprivate typealias Found = (source: LuaSource, path: String)

  /// The folders of all extension files, in order, without duplicates.
  private let folders: [String]
  /// The most bytes of a module's file; nil for no limit.
  private let limit: Int?
  /// Whether a script named the files, so that no part of their paths may be a link (`UnlinkedPath`).
  private let isUnlinked = UnlinkedPath.isRequired
  /// A module that an extension required.
  fileprivate struct Entry {
    /// Nil for a module that was not found.
    var found: Found?
    /// The name of the module, and the folder of the requiring extension.
    var name: String
    var folder: String?
    /// The files of the extensions that require the module.
    var users: Set<String>
  }
  /// By the folder of the requiring extension and the name of the module.
  private let known = Lock<[String: Entry]>([:])

  /// Remembers the folders of the sources. Reads nothing.
  init(of sources: [ScriptSource], limit: Int?) {
    var folders: [String] = []
    for folder in sources.compactMap(\.folderPath) where !folders.contains(folder) { folders.append(folder) }
    (self.folders, self.limit) = (folders, limit)
  }

  /// A reader for the modules that an extension requires. Passed to the Lua state, whose `require` calls it within the
  /// extension's file.
  func reader(for source: ScriptSource) -> LuaScopeReader {
    LuaScopeReader { [self] name in try find(name, for: source) }
  }

  /// The module for an extension, from the cache or from disk. The file is read outside of the lock.
  private func find(_ name: String, for source: ScriptSource) throws -> (source: LuaSource, path: String)? {
    let key = "\(source.folderPath ?? "")\0\(name)"
    if let known = known.withLock({ $0[key]?.use(by: source.name) }) { return known.found }
    let new = Entry(
      found: try read(name, for: source.folderPath), name: name, folder: source.folderPath, users: [source.name])
    return known.withLock { known in
      // Another thread may have read the module in the meantime.
      known[key, default: new].use(by: source.name).found
    }
  }

  /// Reads a module below a folder, then below the folders of the other extensions.
  private func read(_ name: String, for folder: String?) throws -> Found? {
    try LuaModules.read(name, below: [folder].compactMap(\.self) + folders, limit: limit)
  }

  /// The names of the modules in messages. As they appear in stack frames and tracebacks.
  var names: [String] { known.withLock { $0.values.compactMap(\.found?.source.name) } }

  /// The paths of the files that were read.
  var filesInUse: [String] { known.withLock { $0.values.compactMap(\.found?.path) } }

  /// The files of the extensions that require a module whose text has changed on disk. Reads every used module again.
  /// An extension whose own text is unchanged is reloaded too if this names it.
  func outdatedUsers() -> Set<String> {
    let entries = known.withLock { Array($0.values) }
    return entries.reduce(into: []) { users, entry in
      let now = try? read(entry.name, for: entry.folder)
      let isSame = now?.path == entry.found?.path && now?.source.bytes == entry.found?.source.bytes
      if !isSame { users.formUnion(entry.users) }
    }
  }

  /// The paths of the files that were read, and the candidate paths of modules that were not found. A watch of files
  /// observes both.
  var paths: [String] {
    known.withLock { Array($0.values) }.flatMap { entry in
      entry.found.map { [$0.path] } ?? candidates(for: entry)
    }
  }

  /// The paths at which a module would be found, `NAME.lua` and `NAME/init.lua` in each folder.
  private func candidates(for entry: Entry) -> [String] {
    let path = entry.name.replacing(".", with: "/")
    return ([entry.folder].compactMap(\.self) + folders).flatMap { ["\($0)/\(path).lua", "\($0)/\(path)/init.lua"] }
  }
}

extension ExtensionModules.Entry {
  /// Adds an extension that requires the module.
  @discardableResult
  fileprivate mutating func use(by source: String) -> Self {
    users.insert(source)
    return self
  }
}
