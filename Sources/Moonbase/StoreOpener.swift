public import MoonbaseLua
import MoonbasePlatform

/// Opens stores for scripts: a SQLite file or memory, with a model from a file, a table or the store's own cache.
public struct StoreOpener: ContainerOpener {
  private let limits: LuaLimits
  private let readOnly: Bool

  /// Makes an opener. `limits` hold for Lua states that stores make for pure functions; with `readOnly` no store is written.
  public init(limits: LuaLimits = LuaLimits(), readOnly: Bool = false) {
    self.limits = limits
    self.readOnly = readOnly
  }

  /// Opens a store.
  ///
  /// Without a model the store's own cache is used; with neither model nor store there is an empty model. Throws `ModelError`,
  /// `ScriptError` and `GraphError` as `PersistentContainer` does.
  public func open(_ request: ContainerRequest) throws -> OpenedContainer {
    for path in request.extensions { try Self.checkIsFree(path) }
    let container = try PersistentContainer(
      model: model(of: request), stores: locations(of: request),
      extensions: try request.extensions.map(Self.source), limits: limits)
    return OpenedContainer(coordinator: container.coordinator, extensions: container.extensions)
  }

  private func model(of request: ContainerRequest) throws -> ManagedObjectModel {
    switch request.model {
    case .path(let path): return try ManagedObjectModel(contentsOf: Self.url(path))
    case .model(let model): return model
    case nil:
      guard let first = request.stores.first?.path else { return ManagedObjectModel() }
      // Every store keeps the whole model, so any one that is there will do.
      // A path that ends with a slash is refused as what it is.
      let isThere = { (path: String) in path.hasSuffix("/") || FileManager.default.fileExists(atPath: path) }
      guard let store = request.stores.map(\.path).first(where: isThere) else {
        throw GraphError(.cannotOpenFile, "\(first) does not exist yet, and a new store needs a model: name one")
      }
      if !readOnly && !request.isReadOnly { try SQLiteStore.rollBackJournal(ofStoreAt: Self.url(store)) }
      return try SQLiteStore.cachedModel(ofStoreAt: Self.url(store))
    }
  }

  private func locations(of request: ContainerRequest) -> [StoreLocation] {
    guard !request.stores.isEmpty else { return [.inMemory] }
    return request.stores.map { store in
      .sqlite(Self.url(store.path), readOnly: readOnly || request.isReadOnly, configuration: store.configuration)
    }
  }

  /// To read a store's file as a script would drop SQLite's locks on it.
  private static func checkIsFree(_ path: String) throws {
    let url = url(path).resolvingSymlinksInPath()
    guard SQLiteStore.isFileOfOpenStore(atPath: url.path, writing: false) else { return }
    throw ScriptError(.cannotReadFile, "\(path) is a file of a store that is open, not an extension")
  }

  private static func source(_ path: String) throws -> ExtensionSource {
    var status = stat()
    let exists = stat(path, &status) == 0
    guard exists, status.st_mode & S_IFMT == S_IFDIR else {
      guard !path.hasSuffix("/") else {
        throw ScriptError(
          .cannotReadFile,
          "\(path) names a folder, by the slash at its end, and there is none: name a file, or a folder of extensions")
      }
      return .file(url(path))
    }
    if let names = try? FileManager.default.contentsOfDirectory(atPath: url(path).path),
      !names.contains(where: { $0.hasSuffix(".lua") })
    {
      let advice = FileForm(path).map { ": it is \($0), and \($0.advice(path))" } ?? ""
      throw ScriptError(.cannotReadFile, "\(path) is a folder without extensions, whose names end with .lua\(advice)")
    }
    return .directory(url(path))
  }

  /// A file URL that keeps the path as it was given, for messages.
  private static func url(_ path: String) -> URL { URL(literalPath: path) }
}
