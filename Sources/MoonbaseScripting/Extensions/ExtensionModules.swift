import MoonbaseLua
import MoonbasePlatform

/// The modules of one generation of extensions, as they were read first: contexts and stores, whenever they are made,
/// run the same.
///
/// An extension finds modules in its own folder first, then in those of the others.
final class ExtensionModules: Sendable {
  private typealias Found = (source: LuaSource, path: String)

  private let folders: [String]
  private let limit: Int?
  private let isUnlinked = UnlinkedPath.isRequired
  private let known = Lock<[String: Found?]>([:])

  init(of sources: [ScriptSource], limit: Int?) {
    var folders: [String] = []
    for folder in sources.compactMap(\.folderPath) where !folders.contains(folder) { folders.append(folder) }
    (self.folders, self.limit) = (folders, limit)
  }

  /// The modules that an extension requires.
  func reader(for source: ScriptSource) -> LuaScopeReader {
    LuaScopeReader { [self] name in try find(name, for: source.folderPath) }
  }

  private func find(_ name: String, for folder: String?) throws -> (source: LuaSource, path: String)? {
    let key = "\(folder ?? "")\0\(name)"
    if let found = known.withLock({ $0[key] }) { return found }
    let found = try LuaModules.read(name, below: [folder].compactMap(\.self) + folders, limit: limit)
    return known.withLock { known in
      // Another thread may have read it meanwhile.
      if let first = known[key] { return first }
      known[key] = found
      return found
    }
  }
}
