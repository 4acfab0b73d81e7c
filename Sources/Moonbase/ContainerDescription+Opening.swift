import MoonbaseLua
package import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteTools

#if PostgreSQL
  import MoonbasePostgreSQLStore
#endif

extension ContainerDescription {
  /// Reads the model from the source that the description names, or the model in its store.
  package func openModel() throws -> ManagedObjectModel {
    switch model {
    case .file(let url): return try ManagedObjectModel(contentsOf: url)
    case .value(let model): return model
    case .kept:
      if let server = stores.first(where: { $0.address != nil }) { return try server.keptModel() }
      let files = stores.compactMap(\.path)
      guard let first = files.first else { return ManagedObjectModel() }
      // Every store keeps the whole model, so any existing store can provide it.
      guard let store = stores.first(where: \.isThere), let url = store.url else {
        let advice =
          stores.allSatisfy(\.isReadOnly)
          ? ""
          : " yet, and a new store needs a model: name one (--model FILE, in Lua model = FILE), or have import --infer guess one"
        throw GraphError(.cannotOpenFile, message: "\(first) does not exist\(advice)")
      }
      if !store.isReadOnly { try SQLiteStore.rollBackJournal(ofStoreAt: url, busyTimeout: store.busyTimeout) }
      return try SQLiteStore.cachedModel(ofStoreAt: url, busyTimeout: store.busyTimeout)
    }
  }

  /// The extensions, of which paths are files or folders now.
  func openExtensions() throws -> [ExtensionSource] {
    try extensions.map { source in
      try HostWork.charge(Self.fileUnits)
      return try source.path.map { source.located(as: try Self.source($0)) } ?? source
    }
  }

  /// The cost of a file access, in units of work.
  private static let fileUnits = 100

  private static func source(_ path: String) throws -> ExtensionSource {
    try checkIsFree(path)
    var status = stat()
    let exists = stat(path, &status) == 0
    guard exists, status.st_mode & S_IFMT == S_IFDIR else {
      guard !path.hasSuffix("/") else {
        throw ScriptError(
          .cannotOpenFile,
          message:
            "\(path) names a folder, by the slash at its end, and there is none: name a file, or a folder of extensions"
        )
      }
      return .file(URL(literalPath: path))
    }
    if let names = try? FileManager.default.contentsOfDirectory(atPath: URL(literalPath: path).path),
      !names.contains(where: { $0.hasSuffix(".lua") })
    {
      let advice = FileForm(path).map { ": it is \($0), and \($0.advice(path))" } ?? ""
      throw ScriptError(
        .cannotOpenFile, message: "\(path) is a folder without extensions, whose names end with .lua\(advice)")
    }
    return .directory(URL(literalPath: path))
  }

  /// Throws for a file of an open store: reading it as a script would release SQLite's locks on it.
  private static func checkIsFree(_ path: String) throws {
    let url = URL(literalPath: path).resolvingSymlinksInPath()
    guard SQLiteStore.isFileOfOpenStore(atPath: url.path, writing: false) else { return }
    throw ScriptError(.cannotOpenFile, message: "\(path) is a file of a store that is open, not an extension")
  }
}

extension PersistentStoreDescription {
  /// Whether anything exists at the path. A path with a trailing slash, or a cyclic link, is refused later when it is
  /// opened.
  fileprivate var isThere: Bool {
    guard let url else { return false }
    return url.hasDirectoryPath || access(url.pathAsGiven, F_OK) == 0 || errno != ENOENT
  }

  /// Opens the store, or creates it.
  ///
  /// Throws `.invalidRequest` if an option is set that this kind of store does not support.
  package func open(_ model: ResolvedModel) throws -> any PersistentStore {
    if let address { return try open(model, at: address) }
    guard let url else {
      if let option = optionsOfFiles.first(where: \.isSet) {
        throw GraphError(
          .invalidRequest, message: "a store in memory has no \(option.name), which is for files: leave it out")
      }
      return try InMemoryStore(model: model, configuration: configuration, tracksHistory: tracksHistory)
    }
    var options = SQLiteStoreOptions(
      readOnly: isReadOnly, synchronizesFully: synchronizesFully, allowsCloudKit: allowsCloudKit,
      tracksHistory: tracksHistory, transactionAuthor: transactionAuthor, sqlLog: sqlLog)
    if let busyTimeout { options.busyTimeout = busyTimeout }
    if let triggerStepLimit { options.triggerStepLimit = triggerStepLimit }
    if let cacheSize { options.cacheSize = cacheSize }
    if let readerLimit { options.readerLimit = max(1, readerLimit) }
    guard shouldMigrateStoreAutomatically else {
      return try SQLiteStore(url: url, model: model, configuration: configuration, options: options)
    }
    let migration = AutomaticMigration(
      infersMapping: shouldInferMappingModelAutomatically, allowsLoss: allowsMigrationLoss)
    return try SQLiteStore.open(
      url: url, model: model, configuration: configuration, options: options, migration: migration)
  }

  private func open(_ model: ResolvedModel, at address: URL) throws -> any PersistentStore {
    #if PostgreSQL
      if let option = optionsOfFiles.first(where: { $0.isSet && !Self.optionsOfServers.contains($0.name) }) {
        throw GraphError(
          .invalidRequest, message: "a store in PostgreSQL has no \(option.name), which is for files: leave it out")
      }
      var options = PostgreSQLStoreOptions()
      options.readOnly = isReadOnly
      options.tracksHistory = tracksHistory
      options.transactionAuthor = transactionAuthor
      options.sqlLog = sqlLog
      if let busyTimeout { options.busyTimeout = busyTimeout }
      do {
        return try PostgreSQLStore(url: address, model: model, configuration: configuration, options: options)
      } catch let error as GraphError where error.code == .incompatibleVersionHash {
        try migrate(to: model, at: address, because: error)
        return try PostgreSQLStore(url: address, model: model, configuration: configuration, options: options)
      }
    #else
      throw Self.withoutPostgreSQL
    #endif
  }

  #if PostgreSQL
    private static let optionsOfServers: Set = ["isReadOnly", "busyTimeout", "sqlLog", "transactionAuthor"]
  #else
    static var withoutPostgreSQL: GraphError {
      GraphError(
        .cannotOpenFile,
        message:
          "a store in PostgreSQL was named, and this build has no PostgreSQL: build with the package trait PostgreSQL "
          + "(swift build --traits Command,PostgreSQL; MOONBASE_POSTGRESQL=1 for scripts/moonbase)")
    }
  #endif

  /// The options that apply only to stores in files.
  private var optionsOfFiles: [(name: String, isSet: Bool)] {
    [
      ("isReadOnly", isReadOnly), ("busyTimeout", busyTimeout != nil), ("allowsCloudKit", allowsCloudKit),
      ("synchronizesFully", synchronizesFully), ("triggerStepLimit", triggerStepLimit != nil),
      ("cacheSize", cacheSize != nil), ("readerLimit", readerLimit != nil), ("sqlLog", sqlLog != nil),
      ("transactionAuthor", transactionAuthor != nil),
    ]
  }
}
