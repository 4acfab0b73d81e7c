import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

/// An existing store for which a project is created.
///
/// The existing store is only read. The project gets a copy, which is made when the project is
/// written.
struct StartedStore {
  /// The existing store.
  private let store: NamedStore
  /// The model in the store.
  let model: ManagedObjectModel
  /// The configuration of the model that the store contains, and its entities. Nil stands for all entities.
  let configuration: String?
  /// The names of the entities, or nil for all.
  let entities: Set<String>?
  /// The extensions that were given, with their names and files.
  let extensions: StartedExtensions
  /// The names of the extensions that are removed from the copy.
  private let forgotten: [String]

  /// Throws if the store was saved with extensions that are neither given nor to be removed. The commands of the
  /// project could not write to such a store.
  ///
  /// - Parameters:
  ///   - store: The store to copy.
  ///   - paths: The paths of extensions.
  ///   - names: The names of extensions that the copy no longer requires.
  init(_ store: NamedStore, _ paths: [String], without names: [String]) throws {
    self.store = store
    model = try store.description.keptModel()
    try store.requireConfiguration(model, busyTimeout: nil)
    let held = try store.withHeldConfiguration(model, busyTimeout: nil).configuration
    configuration = held
    entities = try held.map { [model] in Set(try model.resolved().entities(inConfiguration: $0).map(\.name)) }
    extensions = try StartedExtensions(paths, for: model)
    forgotten = names
    try checkExtensions(RememberedExtensions.versions(in: store.description.keptMetadata()))
  }

  /// Compares the extensions in the store's metadata with the given and the removed extensions.
  ///
  /// - Parameter remembered: The versions by name, as the metadata contains them.
  private func checkExtensions(_ remembered: [String: String]) throws {
    let known = remembered.keys.sorted()
    if let unknown = forgotten.first(where: { remembered[$0] == nil }) {
      let all = known.isEmpty ? "it remembers none" : "it remembers \(known.listed())"
      throw UsageError(
        "\(store.name) remembers no extension \(unknown)\(suggestion(for: unknown, among: known)): \(all)")
    }
    let missing = known.filter { !extensions.names.contains($0) && !forgotten.contains($0) }
    guard let first = missing.first else { return }
    throw GraphError(
      .extensionConflict,
      message:
        "\(store.name): saves of the store ran with \(missing.count == 1 ? "extension" : "extensions") \(missing.listed()): "
        + "give the file, which is copied into the project (--extension PATH), or let the copy of the store forget it "
        + "(--without-extension \(first))")
  }

  /// Copies the store, and removes the forgotten extensions from the copy.
  ///
  /// The copy is a backup of one state of the store, even if another process writes.
  ///
  /// - Parameter place: The path of the copy.
  func copy(to place: String) throws {
    try store.backUp(to: URL(literalPath: place), replacing: false)
    guard !forgotten.isEmpty else { return }
    var model = model
    model.allowsUnknownClasses = true
    var store = PersistentStoreDescription.sqlite(URL(literalPath: place), configuration: configuration)
    store.allowsCloudKit = true
    var description = ContainerDescription(model: .value(model), stores: [store])
    description.missingExtensions = .ignored
    let container = try PersistentContainer(description)
    for name in forgotten { try container.forgetExtension(name) }
  }
}

/// The extensions of an existing store that are copied into a project, with the modules that they require.
///
/// The names come from loading the extensions in a container without a store file.
struct StartedExtensions {
  /// The folder of the extensions in the project.
  private static let folder = "extensions"

  /// The paths of the extensions in the project.
  private(set) var paths: [String] = []
  /// The names of the extensions, as their tables return them.
  private(set) var names: Set<String> = []
  /// The files of the extensions and of the modules, with their paths in the project.
  private(set) var files: [(name: String, bytes: [UInt8])] = []

  /// Creates an empty list of extensions.
  init() {}

  /// Loads the extensions to find their names and modules.
  ///
  /// - Parameters:
  ///   - sources: The paths of the extensions.
  ///   - model: The model that the extensions are for.
  /// - Throws: The errors of loading an extension.
  init(_ sources: [String], for model: ManagedObjectModel) throws {
    guard !sources.isEmpty else { return }
    let description = ContainerDescription(
      model: .value(model), stores: [.inMemory], extensions: sources.map { .path($0) })
    let extensions = try PersistentContainer(description).extensions
    names = Set(extensions.loaded.map(\.name))
    let folders = sources.map { FileIdentity.truePath($0) ?? $0 }
      .map { FileIdentity.kind($0) == nil ? $0.folderOfPath : $0 }
    let places = Set(extensions.loaded.map { FileIdentity.truePath($0.source) ?? $0.source })
    for file in extensions.filesInUse.compactMap(FileIdentity.truePath) {
      guard let home = folders.first(where: { file.hasPrefix("\($0)/") }) else {
        throw UsageError("\(file) is required from outside of the folders of the extensions: copy it there before")
      }
      let name = "\(Self.folder)/\(file.dropFirst(home.count + 1))"
      guard !files.contains(where: { $0.name == name }) else {
        throw UsageError("two files of extensions are called \(name.lastPartOfPath): rename one")
      }
      files.append((name, try BoundedFile.read(file, limit: 64 << 20)))
      if places.contains(file) { paths.append(name) }
    }
  }
}
