import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport

/// The stores over which a behaviour is tested.
enum StoreKind: CaseIterable {
  case memory, sqlite
}

/// Stores in a folder that goes with the test.
final class StoreFolder {
  private let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("graph-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// A new store, for all entities or those of a configuration.
  func store(_ kind: StoreKind, _ model: ResolvedModel, _ configuration: String? = nil) throws -> any PersistentStore {
    switch kind {
    case .memory: return try InMemoryStore(model: model, configuration: configuration)
    case .sqlite:
      let file = url.appendingPathComponent("\(UUID().uuidString).sqlite")
      return try SQLiteStore(url: file, model: model, configuration: configuration)
    }
  }
}

/// A store of one kind, its coordinator, and contexts over them.
final class StoreBench {
  let coordinator: PersistentStoreCoordinator
  private let folder: StoreFolder

  init(
    _ kind: StoreKind, _ model: ManagedObjectModel = People.model(),
    wrap: (any PersistentStore) -> any PersistentStore = { $0 }
  ) throws {
    folder = try StoreFolder()
    let model = try model.resolved()
    coordinator = PersistentStoreCoordinator(model: model)
    coordinator.add(wrap(try folder.store(kind, model)))
  }

  /// A context with an extension of an entity.
  func context(
    extending entity: String = "Person", _ configure: @escaping @Sendable (inout EntityExtension) -> Void = { _ in }
  ) throws -> ManagedObjectContext {
    var extensions = ClosureExtensions()
    extensions.extend(entity) {
      var entry = EntityExtension()
      configure(&entry)
      return entry
    }
    return try ManagedObjectContext(coordinator, extensions: extensions)
  }

  /// What the stores hold of an attribute, in the order of its values.
  func saved(_ entity: String, _ key: String) throws -> [Value] {
    let fresh = try ManagedObjectContext(PersistentStoreCoordinator(sharingStoresOf: coordinator))
    var request = FetchRequest(entity)
    request.sortDescriptors = [SortDescriptor(key)]
    return try fresh.fetch(request).map { try $0.value(forKey: key) }
  }
}

/// A switch that hooks of a domain look at.
final class Switch: Sendable {
  private let state = Lock(0)

  init(_ value: Int = 0) { self.value = value }

  var value: Int {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }

  /// Throws as long as the value is not 0.
  func failIfOn() throws { if value != 0 { throw Broken() } }
}

/// What hooks of tests throw.
struct Broken: Error {}
