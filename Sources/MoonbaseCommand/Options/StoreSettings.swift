import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseScripting
import MoonbasePlatform

/// The stores of a command, their model, and the settings for opening them.
///
/// The options of the command line fill it, and `complete(with:)` adds the settings of the
/// environment and the project. `container` then has everything that is needed to open the stores.
struct StoreSettings: Equatable {
  /// The stores in the order of the command line.
  var stores: [PersistentStoreDescription] = []
  /// The path of the model, or nil for the model in the store.
  var model: String?
  /// The paths of the extensions.
  var extensions: [String] = []
  /// The files and variables that a project allows for its extensions, and the project's limits for them. The keys are
  /// the paths of the extensions.
  var extensionGrants: [String: LuaFileAccess] = [:]
  /// The limits that the project gives to an extension, by its path.
  var projectLimits: [String: ExtensionLimits] = [:]
  /// The model and the extensions that come from the project.
  var projectFiles: [ProjectPath] = []
  /// Extensions that a store needs and that may be missing.
  var withoutExtensions: Set<String> = []
  /// Whether nothing is changed in the stores.
  var readOnly = false
  /// The limits of extensions, by name.
  var extensionLimits: [String: ExtensionLimits] = [:]
  /// Whether the functions of extensions are measured.
  var profiles = false
  /// Whether a store that CloudKit mirrors may be written.
  var allowsCloudKit = false
  /// Whether a store without a history gets one.
  var tracksHistory = false
  /// The time that a connection waits for a locked store.
  var busyTimeout: Duration?
  /// Whether each save waits until the disk has stored it.
  var synchronizesFully = false
  /// The author of saves, for the history.
  var author: String?
  /// The size for each connection, in bytes.
  var cacheSize: Int?

  /// The cache size of a command that reads and writes each row once in the order of the file. A larger cache would not
  /// save time.
  static let smallCacheSize = 8 << 20

  /// Throws if a store does not exist, for commands that change stores and do not create them.
  ///
  /// - Throws: `.cannotOpenFile` with the path of the missing store.
  func requireStores() throws {
    for path in stores.compactMap(\.path) { try Self.requireStore(path) }
  }

  /// Throws if the store does not exist.
  ///
  /// A store of the project that does not exist yet has a message with the commands that create it.
  ///
  /// - Throws: `.cannotOpenFile`.
  static func requireStore(_ path: String) throws {
    if PersistentStoreDescription.isAddress(path) { return }
    try Project.requireStore(path)
    guard access(path, F_OK) != 0, errno == ENOENT else { return }
    throw GraphError(.cannotOpenFile, message: "\(path): there is no such store: name one")
  }

  /// The path of a store as it was given.
  ///
  /// - Parameter store: An opened store.
  /// - Returns: The path on the command line, or the full path or address if the store was not
  ///   named there.
  func name(of store: any PersistentStore) -> String {
    guard let url = store.url else { return store.identifier }
    guard url.isFileURL else { return PersistentStoreDescription.shown(url.absoluteString) }
    let path = url.path
    let file = FileIdentity.truePath(path) ?? path
    return stores.compactMap(\.path).first { FileIdentity.truePath($0) == file } ?? path
  }

  /// The container that the settings describe. Only `moonbase migrate` migrates a store. Throws if a file that the
  /// project names is missing. This also applies if only the store of the project is used.
  ///
  /// Each call creates the description anew.
  var container: ContainerDescription {
    get throws {
      try requireProjectFiles()
      var stores = stores
      for index in stores.indices { stores[index].shouldMigrateStoreAutomatically = false }
      return applied(
        to: ContainerDescription(
          model: model.map { .file(ModelFile.url($0)) } ?? .kept, stores: stores,
          extensions: extensions.map { .path($0, limits: projectLimits[$0], grants: extensionGrants[$0]) }))
    }
  }

  /// Throws if a file that the project names is missing.
  ///
  /// - Throws: `.cannotOpenFile` with the position in the project file.
  func requireProjectFiles() throws {
    for file in projectFiles { try file.require() }
    if readOnly { try stores.compactMap(\.path).forEach(Project.requireStore) }
  }

  /// The description with the settings for all stores.
  ///
  /// - Parameter description: A container, which may come from a script.
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
  ///
  /// - Parameter value: The value of `--store`.
  /// - Throws: A `UsageError` for an empty path, or for a store that is named twice.
  mutating func add(store value: String) throws(UsageError) {
    let named = NamedStore(value)
    let store = named.description
    guard !named.path.isEmpty else { throw UsageError("--store takes [CONFIGURATION=]PATH, not '\(value)'") }
    guard !stores.contains(where: { $0.url == store.url && $0.address == store.address }) else {
      throw UsageError("--store names \(named.name) twice")
    }
    guard stores.isEmpty || store.configuration != nil && stores.allSatisfy({ $0.configuration != nil }) else {
      throw UsageError(
        "several stores need the configuration that each holds: --store NAME=PATH --store OTHER=PATH")
    }
    stores.append(store)
  }
}
