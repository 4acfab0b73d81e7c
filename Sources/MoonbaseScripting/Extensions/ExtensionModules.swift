import MoonbaseLua
import MoonbasePlatform

/// The modules of one generation of extensions, as they were read first: contexts and stores, whenever they are made,
/// run the same.
///
/// An extension finds modules in its own folder first, then in those of the others.
final class ExtensionModules: Sendable {
  fileprivate typealias Found = (source: LuaSource, path: String)

  private let folders: [String]
  private let limit: Int?
  private let isUnlinked = UnlinkedPath.isRequired
  /// The state of a module that an extension required.
  fileprivate struct Entry {
    var found: Found?
    /// The name of the module, and the folder of the extension.
    var name: String
    var folder: String?
    /// The files of the extensions that require it.
    var users: Set<String>
  }
  private let known = Lock<[String: Entry]>([:])

  init(of sources: [ScriptSource], limit: Int?) {
    var folders: [String] = []
    for folder in sources.compactMap(\.folderPath) where !folders.contains(folder) { folders.append(folder) }
    (self.folders, self.limit) = (folders, limit)
  }

  /// The modules that an extension requires.
  func reader(for source: ScriptSource) -> LuaScopeReader {
    LuaScopeReader { [self] name in try find(name, for: source) }
  }

  private func find(_ name: String, for source: ScriptSource) throws -> (source: LuaSource, path: String)? {
    let key = "\(source.folderPath ?? "")\0\(name)"
    if let known = known.withLock({ $0[key]?.use(by: source.name) }) { return known.found }
    let new = Entry(
      found: try read(name, for: source.folderPath), name: name, folder: source.folderPath, users: [source.name])
    return known.withLock { known in
      // Another thread may have read it meanwhile.
      known[key, default: new].use(by: source.name).found
    }
  }

  private func read(_ name: String, for folder: String?) throws -> Found? {
    try LuaModules.read(name, below: [folder].compactMap(\.self) + folders, limit: limit)
  }

  /// The names of the modules in messages.
  var names: [String] { known.withLock { $0.values.compactMap(\.found?.source.name) } }

  /// The paths of the files that were read.
  var filesInUse: [String] { known.withLock { $0.values.compactMap(\.found?.path) } }

  /// The files of the extensions that require a module of which another text would be read now.
  func outdatedUsers() -> Set<String> {
    let entries = known.withLock { Array($0.values) }
    return entries.reduce(into: []) { users, entry in
      let now = try? read(entry.name, for: entry.folder)
      let isSame = now?.path == entry.found?.path && now?.source.bytes == entry.found?.source.bytes
      if !isSame { users.formUnion(entry.users) }
    }
  }

  /// The paths of the files that were read, and those where files would be looked for that were not there.
  var paths: [String] {
    known.withLock { Array($0.values) }.flatMap { entry in
      entry.found.map { [$0.path] } ?? candidates(for: entry)
    }
  }

  private func candidates(for entry: Entry) -> [String] {
    let path = entry.name.replacing(".", with: "/")
    return ([entry.folder].compactMap(\.self) + folders).flatMap { ["\($0)/\(path).lua", "\($0)/\(path)/init.lua"] }
  }
}

extension ExtensionModules.Entry {
  /// Notes that an extension requires it.
  @discardableResult
  fileprivate mutating func use(by source: String) -> Self {
    users.insert(source)
    return self
  }
}
