public import MoonbaseGraph
public import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

#if PostgreSQL
  import MoonbasePostgreSQLStore
  import MoonbaseSQL
#endif

public import struct MoonbaseModel.SortDescriptor

/// The kinds of stores with which behaviour of the graph is tested.
public enum StoreKind: Sendable {
  case memory, sqlite
  /// A store written with the public API only.
  case folder
  #if PostgreSQL
    case postgreSQL
  #endif

  /// The stores that the package has: that in PostgreSQL with its trait.
  public static let allCases: [StoreKind] = {
    #if PostgreSQL
      [.memory, .sqlite, .postgreSQL]
    #else
      [.memory, .sqlite]
    #endif
  }()
  /// Those whose engine speaks SQL.
  public static let engines: [StoreKind] = allCases.filter { $0 != .memory }
  /// Those and one that somebody else could have written: for what the protocol of stores promises.
  public static let withFolder: [StoreKind] = allCases + [.folder]

  /// A new store, for all entities or those of a configuration; a file is in `folder`.
  public func store(
    for model: ResolvedModel, configuration: String? = nil, in folder: TemporaryFolder
  ) throws -> any PersistentStore {
    switch self {
    case .memory: try InMemoryStore(model: model, configuration: configuration)
    case .sqlite:
      try SQLiteStore(url: folder.file("\(UUID().uuidString).sqlite"), model: model, configuration: configuration)
    case .folder:
      try FolderStore(folder: folder.file(UUID().uuidString), model: model, configuration: configuration)
    #if PostgreSQL
      case .postgreSQL: try Self.storeInPostgreSQL(model, configuration: configuration)
    #endif
    }
  }

  #if PostgreSQL
    /// A store whose statements `StatementShapes` checks.
    private static func storeInPostgreSQL(
      _ model: ResolvedModel, configuration: String?
    ) throws -> any PersistentStore {
      try StatementShapes.shared.check()
      var options = PostgreSQLStoreOptions()
      options.sqlLog = SQLLog { StatementShapes.shared.note($0.statement) }
      return try PostgreSQLStore(
        url: PostgreSQLServer.newAddress(), model: model, configuration: configuration, options: options)
    }
  #endif
}

/// An empty store of one kind, its coordinator, and contexts over them. The bench owns the store.
public final class StoreBench {
  /// The coordinator of the store.
  public let coordinator: PersistentStoreCoordinator
  private let folder: TemporaryFolder

  /// Makes a store, or the store that `wrap` makes from it.
  public init(
    _ kind: StoreKind, _ model: ManagedObjectModel = People.model(),
    wrap: (any PersistentStore) -> any PersistentStore = { $0 }
  ) throws {
    folder = try TemporaryFolder()
    let model = try model.resolved()
    coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(wrap(kind.store(for: model, in: folder)))
  }

  /// A context with extensions by the names of their entities.
  public func context(_ extensions: [String: [EntityExtension]] = [:]) -> ManagedObjectContext {
    let domain = ExtensionRegistry()
    domain.extensions = extensions
    return ManagedObjectContext(coordinator, extensionRegistry: domain)
  }

  /// A context with one extension of an entity.
  public func context(
    extending entity: String = "Person", _ configure: (inout EntityExtension) -> Void
  ) -> ManagedObjectContext {
    var entry = EntityExtension()
    configure(&entry)
    return context([entity: [entry]])
  }

  /// A context that shares only the store, not the row cache.
  public func stranger(_ extensions: [String: [EntityExtension]] = [:]) -> ManagedObjectContext {
    let domain = ExtensionRegistry()
    domain.extensions = extensions
    return ManagedObjectContext(PersistentStoreCoordinator(sharingStoresOf: coordinator), extensionRegistry: domain)
  }

  /// The stored values of an attribute, sorted.
  public func saved(_ entity: String, _ key: String) throws -> [Value] {
    let fresh = stranger()
    var request = FetchRequest(entity)
    request.sortDescriptors = [SortDescriptor(key)]
    return try fresh.fetch(request).map { try $0.value(forKey: key) }
  }
}
