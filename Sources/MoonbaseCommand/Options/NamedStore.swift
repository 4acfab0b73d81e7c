import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// A store as the command line and a project name it. It has a path and the configuration of the model that the store
/// contains.
///
/// A store in a file is checked against its metadata: a configuration that the file does not
/// contain is an error. A store on a PostgreSQL server has an address in place of the path, and is
/// not checked.
struct NamedStore: Equatable {
  /// The name of the configuration, or nil for the whole model.
  var configuration: String?
  /// The path of the file, or the address on a server.
  var path: String
  /// Whether the configuration comes from the project, because only the file is named.
  var isOfProject = false
}

extension NamedStore {
  /// Parses `[CONFIGURATION=]PATH`. The `=` belongs to the path if the part before it cannot be the name of a
  /// configuration, or if a file with the whole name exists.
  ///
  /// Example: `Local=local.sqlite` has the configuration `Local`.
  init(_ text: String) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let mayBeName = parts.count == 2 && !parts[0].isEmpty && !parts[0].contains { "/?:".contains($0) }
    let isNamed = mayBeName && !FileManager.default.fileExists(atPath: text)
    self.init(configuration: isNamed ? parts[0] : nil, path: isNamed ? parts[1] : text)
  }

  /// The description for opening the store.
  var description: PersistentStoreDescription {
    // Opening refuses an address that cannot be read.
    if isOnServer { return .postgreSQL(ModelFile.url(path), configuration: configuration) }
    return .sqlite(URL(literalPath: path), configuration: configuration)
  }

  /// Whether it is an address, and no path.
  var isOnServer: Bool { PersistentStoreDescription.isAddress(path) }

  /// The address of a store on a server.
  ///
  /// - Throws: A `UsageError` for a text that is no address.
  var address: URL {
    get throws(UsageError) {
      if let address = PersistentStoreDescription.address(path) { return address }
      throw UsageError("the store's address cannot be read: write postgresql://USER@HOST/DATABASE?schema=NAME")
    }
  }

  /// Throws for a store on a server, where a command works on files. `advice` names the server's own means.
  ///
  /// - Throws: A `UsageError` with the advice.
  func requireFile(_ advice: String) throws {
    guard isOnServer else { return }
    throw UsageError("this command takes a file, and no store on a server: \(advice)")
  }

  /// The name for messages: the path, or the address without a password.
  var name: String { isOnServer ? PersistentStoreDescription.shown(path) : path }

  /// The description, with the time that a call waits for other processes.
  func description(busyTimeout: Duration?) -> PersistentStoreDescription {
    var description = description
    description.busyTimeout = busyTimeout
    return description
  }
}

extension NamedStore {
  /// The store with the configuration that the project gives to its file, if no configuration is named.
  var inProject: NamedStore {
    guard configuration == nil, !isOnServer, let known = try? Project.current()?.namedStores() else { return self }
    let file = FileIdentity.truePath(path) ?? path
    let same = known.first { ($0.path == path) || FileIdentity.truePath($0.path) == file }
    return NamedStore(configuration: same?.configuration, path: path, isOfProject: same != nil)
  }

  /// Throws if the store does not contain the configuration that is named with it. A store without a model is not
  /// checked.
  ///
  /// - Parameters:
  ///   - model: The model, or nil for the model in the store.
  ///   - busyTimeout: The time to wait for a writing process.
  /// - Throws: An error that names the configuration of the store.
  func requireConfiguration(_ model: ManagedObjectModel? = nil, busyTimeout: Duration?) throws {
    guard !isOfProject, let configuration, let model = try model ?? keptModel(busyTimeout) else { return }
    let entities = try entities(in: model)
    let held = try heldEntities(busyTimeout)
    guard held.isEmpty || held == Set(entities) else {
      let other =
        model.configuration(of: held).map { "configuration \($0) of the model" } ?? "\(held.sorted().listed())"
      throw GraphError(
        .invalidStore,
        message: "\(name) holds \(other), and not configuration \(configuration): name another file, or leave "
          + "'\(configuration)=' out")
    }
  }

  /// The names of the entities in the configuration, or of all entities. Throws if the model lacks the configuration.
  ///
  /// - Parameter model: The model with its configurations.
  /// - Throws: `.unknownName` with a suggestion.
  @discardableResult func entities(in model: ManagedObjectModel) throws -> [String] {
    guard let configuration else { return model.entities.map(\.name) }
    if let entities = model.configurations[configuration] { return entities }
    let known = model.configurations.keys.sorted()
    throw GraphError(
      .unknownName,
      message:
        "\(name): the model has no configuration \(configuration)\(suggestion(for: configuration, among: known)): "
        + (known.isEmpty ? "it has none: leave '\(configuration)=' out" : "it has \(known.listed())"))
  }

  /// The store with the configuration whose entities it contains, if no configuration is named and it does not contain
  /// all entities.
  ///
  /// - Parameters:
  ///   - model: The model of the store.
  ///   - busyTimeout: The time to wait for a writing process.
  func withHeldConfiguration(_ model: ManagedObjectModel, busyTimeout: Duration?) throws -> NamedStore {
    guard configuration == nil, !model.configurations.isEmpty else { return self }
    let held = try heldEntities(busyTimeout)
    guard !held.isEmpty, held.count < model.entities.count else { return self }
    return NamedStore(configuration: model.configuration(of: held), path: path)
  }

  /// The model in the store, or nil for a store of an old framework.
  private func keptModel(_ busyTimeout: Duration?) throws -> ManagedObjectModel? {
    let store = description(busyTimeout: busyTimeout)
    return try store.keepsModel() ? store.keptModel() : nil
  }

  /// The names of the entities with a version in the metadata.
  ///
  /// The set is empty if the metadata has no version hashes.
  private func heldEntities(_ busyTimeout: Duration?) throws -> Set<String> {
    let metadata = try description(busyTimeout: busyTimeout).keptMetadata()
    guard case .map(let hashes)? = metadata["NSStoreModelVersionHashes"] else { return [] }
    return Set(hashes.keys)
  }
}

extension [NamedStore] {
  /// A description of stores for messages, such as `Local (local.sqlite) and Far (far.sqlite)`.
  var phrase: String {
    let names = map { store in store.configuration.map { "\($0) (\(store.name))" } ?? store.name }
    let former = names.dropLast().joined(separator: ", ")
    return [former, names.last ?? ""].filter { !$0.isEmpty }.joined(separator: " and ")
  }
}
