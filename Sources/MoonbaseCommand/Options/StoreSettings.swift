import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseScripting
import MoonbasePlatform

/// The stores of a command, their model, and the settings for opening them.
struct StoreSettings: Equatable {
  var stores: [PersistentStoreDescription] = []
  var model: String?
  var extensions: [String] = []
  /// The files and variables that a project allows for its extensions, and the project's limits for them. The keys are
  /// the paths of the extensions.
  var extensionGrants: [String: LuaFileAccess] = [:]
  var projectLimits: [String: ExtensionLimits] = [:]
  /// The model and the extensions that come from the project.
  var projectFiles: [ProjectPath] = []
  /// Extensions that a store needs and that may be missing.
  var withoutExtensions: Set<String> = []
  var readOnly = false
  /// The limits of extensions, by name.
  var extensionLimits: [String: ExtensionLimits] = [:]
  /// Whether the functions of extensions are measured.
  var profiles = false
  var allowsCloudKit = false
  var tracksHistory = false
  /// The time that a connection waits for a locked store.
  var busyTimeout: Duration?
  var synchronizesFully = false
  /// The author of saves, for the history.
  var author: String?
  /// The size for each connection, in bytes.
  var cacheSize: Int?

  /// The cache size of a command that reads and writes each row once in the order of the file. A larger cache would not
  /// save time.
  static let smallCacheSize = 8 << 20

  /// Throws if a store does not exist, for commands that change stores and do not create them.
  func requireStores() throws {
    for path in stores.compactMap(\.path) { try Self.requireStore(path) }
  }

  /// Throws if the store does not exist.
  static func requireStore(_ path: String) throws {
    if PersistentStoreDescription.isAddress(path) { return }
    try Project.requireStore(path)
    guard access(path, F_OK) != 0, errno == ENOENT else { return }
    throw GraphError(.cannotOpenFile, message: "\(path): there is no such store: name one")
  }

  /// The path of a store as it was given.
  func name(of store: any PersistentStore) -> String {
    guard let url = store.url else { return store.identifier }
    guard url.isFileURL else { return url.absoluteString }
    let path = url.path
    let file = FileIdentity.truePath(path) ?? path
    return stores.compactMap(\.path).first { FileIdentity.truePath($0) == file } ?? path
  }

  /// The container that the settings describe. Only `moonbase migrate` migrates a store. Throws if a file that the
  /// project names is missing. This also applies if only the store of the project is used.
  var container: ContainerDescription {
    get throws {
      try requireProjectFiles()
      var stores = stores
      for index in stores.indices { stores[index].shouldMigrateStoreAutomatically = false }
      return applied(
        to: ContainerDescription(
          model: model.map { .file(URL(literalPath: $0)) } ?? .kept, stores: stores,
          extensions: extensions.map { .path($0, limits: projectLimits[$0], grants: extensionGrants[$0]) }))
    }
  }

  /// Throws if a file that the project names is missing.
  func requireProjectFiles() throws {
    for file in projectFiles { try file.require() }
    if readOnly { try stores.compactMap(\.path).forEach(Project.requireStore) }
  }

  /// The description with the settings for all stores.
  func applied(to description: ContainerDescription) -> ContainerDescription {
    var description = description
    if readOnly { description.setReadOnly() }
    description.extensionLimits.merge(extensionLimits) { _, option in option }
    description.missingExtensions = .refused(but: withoutExtensions, tell: MissingExtensionNotice.tell)
    description.profile = profiles ? CommandProfile.profile : nil
    for index in description.stores.indices where !description.stores[index].isInMemory {
      if let author { description.stores[index].transactionAuthor = author }
      if let busyTimeout { description.stores[index].busyTimeout = busyTimeout }
      if tracksHistory { description.stores[index].tracksHistory = true }
      if allowsCloudKit { description.stores[index].allowsCloudKit = true }
      if synchronizesFully { description.stores[index].synchronizesFully = true }
      if let cacheSize, description.stores[index].url != nil { description.stores[index].cacheSize = cacheSize }
    }
    return description
  }
}

extension StoreSettings {
  /// Parses `[CONFIGURATION=]PATH`, and adds the store.
  mutating func add(store value: String) throws(UsageError) {
    let named = NamedStore(value)
    let store = named.description
    guard !named.path.isEmpty else { throw UsageError("--store takes [CONFIGURATION=]PATH, not '\(value)'") }
    guard !stores.contains(where: { $0.url == store.url && $0.address == store.address }) else {
      throw UsageError("--store names \(named.isOnServer ? "one schema" : named.path) twice")
    }
    guard stores.isEmpty || store.configuration != nil && stores.allSatisfy({ $0.configuration != nil }) else {
      throw UsageError(
        "several stores need the configuration that each holds: --store NAME=PATH --store OTHER=PATH")
    }
    stores.append(store)
  }
}
