import Moonbase
import MoonbaseBatch
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

/// The store that `--infer` creates, and the file of its model.
struct InferredStore {
  let path: String
  let modelPath: String
  private let url: URL
  private let settings: StoreSettings

  init(_ settings: StoreSettings) throws {
    guard settings.stores.count == 1, settings.stores[0].configuration == nil, let url = settings.stores[0].url else {
      throw UsageError("--infer makes one store: name it with --store PATH")
    }
    guard !settings.readOnly else { throw UsageError("--infer makes a store: leave --read-only out") }
    (self.settings, self.url) = (settings, url)
    path = url.relativePath
    modelPath = settings.model ?? url.deletingPathExtension().relativePath + ".lua"
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
  func description(with model: ManagedObjectModel) throws -> ContainerDescription {
    var description = try settings.container
    description.model = .value(model)
    return description
  }

  /// Whether an earlier run of this import has started to fill the store. Throws if the store contains other data.
  func hasBegun(_ job: String) throws -> Bool {
    guard try !SQLiteStore.isBare(at: url, busyTimeout: settings.busyTimeout) else { return false }
    let coordinator = try PersistentContainer(description).coordinator
    let stores = coordinator.persistentStores
    if try stores.contains(where: { try Ledger.entry(job, of: $0) != nil }) { return true }
    guard try stores.contains(where: { try $0.firstObjects(in: coordinator.model) != nil }) else { return false }
    throw UsageError(
      "\(path) is there, and has objects: --infer makes a new store; import into it without --infer, or name another one"
    )
  }

  /// Writes the model, unless the file already contains it.
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
  convenience init(
    _ job: String, fingerprint: InputFingerprint, ofNewStore store: any PersistentStore, rejectPath: String? = nil,
    usualRejectPath: String? = nil
  ) throws {
    try self.init(
      job, fingerprint: fingerprint, of: store, restarting: false, rejectPath: rejectPath,
      usualRejectPath: usualRejectPath, mayBeginAnew: false,
      advice: "remove \(store.url?.relativePath ?? "the store") to begin anew")
  }
}
