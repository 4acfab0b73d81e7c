import Moonbase
import MoonbaseBatch
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

/// The store that `--infer` creates, and the file of its model.
///
/// The store and the model file are created together, and an interrupted import finds both again. A
/// store that contains other data is never filled.
struct InferredStore {
  /// The path of the store as given, or its address without a password.
  let path: String
  /// The path of the model file. Without `--model`, it is beside the store, or in the current folder for a store on a
  /// server.
  let modelPath: String
  /// The store.
  private let store: PersistentStoreDescription
  /// The options of the store.
  private let settings: StoreSettings

  /// Checks the options, and determines the path of the model file.
  ///
  /// - Parameter settings: The options, which must name exactly one writable store.
  /// - Throws: A `UsageError` for several stores, a configuration or `--read-only`.
  init(_ settings: StoreSettings) throws {
    guard settings.stores.count == 1, settings.stores[0].configuration == nil, !settings.stores[0].isInMemory else {
      throw UsageError("--infer makes one store: name it with --store PATH")
    }
    guard !settings.readOnly else { throw UsageError("--infer makes a store: leave --read-only out") }
    self.settings = settings
    var store = settings.stores[0]
    store.busyTimeout = settings.busyTimeout
    self.store = store
    path = store.name
    let ownModelPath = try store.url?.deletingPathExtension().relativePath ?? store.schemaName()
    modelPath = settings.model ?? ownModelPath + ".lua"
  }

  /// The description of the existing store with the model in it.
  var description: ContainerDescription {
    get throws {
      var description = try settings.container
      description.model = .kept
      return description
    }
  }

  /// The container over the new store.
  ///
  /// - Parameter model: The inferred model.
  func description(with model: ManagedObjectModel) throws -> ContainerDescription {
    var description = try settings.container
    description.model = .value(model)
    return description
  }

  /// Whether an earlier run of this import has started to fill the store. Throws if the store contains other data.
  ///
  /// - Parameter job: The name of the import in the ledger.
  /// - Returns: False if there is no store yet, or if the store is empty.
  func hasBegun(_ job: String) throws -> Bool {
    guard try !store.isBare() else { return false }
    let coordinator = try PersistentContainer(description).coordinator
    let stores = coordinator.persistentStores
    if try stores.contains(where: { try Ledger.entry(job, of: $0) != nil }) { return true }
    guard try stores.contains(where: { try $0.firstObjects(in: coordinator.model) != nil }) else { return false }
    throw UsageError(
      "\(path) is there, and has objects: --infer makes a new store; import into it without --infer, or name another one"
    )
  }

  /// Writes the model, unless the file already contains it.
  ///
  /// - Parameters:
  ///   - inferred: The model with the comments about its columns.
  ///   - replacing: Whether an existing file with another content may be replaced.
  ///   - quiet: Whether the message about the new file is left out.
  /// - Throws: A `UsageError` if the file exists and may not be replaced.
  func write(_ inferred: InferredModel, replacing: Bool, quiet: Bool) throws {
    let source = Array(try inferred.luaSource().utf8)
    if let known = FileManager.default.contents(atPath: modelPath) {
      if known.elementsEqual(source) { return }
      guard replacing else {
        throw UsageError(
          "\(modelPath) is there: to import with this model leave --infer out, else name another file with --model, or replace it with --force"
        )
      }
    }
    let file = try OutputDestination(file: modelPath, replacing: replacing)
    try source.withUnsafeBytes { try file.write($0) }
    try file.finish()
    if !quiet { Terminal.complain("moonbase: the model that was guessed: \(modelPath)") }
  }
}

extension ImportBookmark {
  /// Creates the bookmark for a store that the import itself creates. The import cannot be restarted.
  ///
  /// - Parameters:
  ///   - job: The name of the import in the ledger.
  ///   - fingerprint: Identifies the content of the input.
  ///   - store: The new store.
  ///   - rejectPath: The path of rejected rows from the command line.
  ///   - usualRejectPath: The path that is used without an option.
  convenience init(
    _ job: String, fingerprint: InputFingerprint, ofNewStore store: any PersistentStore, rejectPath: String? = nil,
    usualRejectPath: String? = nil
  ) throws {
    try self.init(
      job, fingerprint: fingerprint, of: store, restarting: false, rejectPath: rejectPath,
      usualRejectPath: usualRejectPath, mayBeginAnew: false,
      advice: "remove \(store.name) to begin anew")
  }
}
