import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The options of commands that have one store as an argument. They are the options of `StoreOption` that say how a
/// store is read.
///
/// Commands that examine or copy files use it, such as `info`, `history` and `sql`. Commands that
/// load objects with extensions use `StoreOptionGroup`.
struct FileOptionGroup: ParsableArguments {
  /// The model of a project is not used here. The files are read as they are.
  @Option(
    name: StoreOption.model.parserName,
    help: ArgumentHelp("The model (default: the one that the store keeps).", valueName: "PATH"), completion: .file())
  var model: String?

  @Flag(name: StoreOption.readOnly.parserName, help: StoreOption.readOnly.parserHelp)
  var readOnly = false

  @OptionGroup var patience: PatienceOptionGroup
  @OptionGroup var limits: LimitOptionGroup

  /// Checks the values, so that errors have the form of the argument parser.
  func validate() throws { try understood { _ = try settings() } }

  /// The settings of the options, for a store.
  ///
  /// - Parameter store: The store of the command, or nil.
  /// - Throws: A `UsageError` for a value that is not valid.
  func settings(_ store: NamedStore? = nil) throws(UsageError) -> StoreSettings {
    var settings = StoreSettings()
    if let store { settings.stores = [store.description] }
    if let model { try StoreOption.model.apply(model, &settings) }
    if readOnly { try StoreOption.readOnly.apply("", &settings) }
    settings.busyTimeout = try patience.duration()
    return settings
  }

  /// The model in the store, unless the options name a model.
  ///
  /// - Throws: The errors of reading the model, and an error for a store without a stored model.
  func model(of store: NamedStore) throws -> ResolvedModel {
    try namedModel() ?? store.description(busyTimeout: patience.duration()).keptModel().resolved()
  }

  /// The model that replaces the store's own model, or nil if none is named.
  func namedModel() throws -> ResolvedModel? { try model.map(ModelFile.read) }

  /// Opens a store read-only with its stored values. Extensions are not used. The store is opened with the
  /// configuration that it contains, which may be named.
  ///
  /// - Parameter store: The store to open.
  /// - Returns: A coordinator with this store.
  func coordinatorOfStoredValues(_ store: NamedStore) throws -> PersistentStoreCoordinator {
    var settings = try settings(withHeldConfiguration(store))
    settings.readOnly = true
    var description = try settings.container
    description.missingExtensions = .ignored
    var model = try model(of: store).description
    model.allowsUnknownClasses = true
    description.model = .value(model)
    return try PersistentContainer(description).coordinator
  }

  /// The store with the configuration of the model that it contains. Throws if another configuration is named.
  ///
  /// - Parameter store: The store as named on the command line.
  func withHeldConfiguration(_ store: NamedStore) throws -> NamedStore {
    try StoreSettings.requireStore(store.path)
    let (model, busyTimeout) = (try model(of: store), try patience.duration())
    try store.requireConfiguration(model.description, busyTimeout: busyTimeout)
    return try store.withHeldConfiguration(model.description, busyTimeout: busyTimeout)
  }
}
