public import MoonbaseGraph
public import MoonbaseModel

/// What a script asks `moonbase.open` for.
public struct ContainerRequest: Sendable {
  /// The stores; none for one in memory.
  public var stores: [Store]
  /// The model: a path, or the table that a script wrote down.
  public var model: ModelChoice?
  /// Paths of extension files.
  public var extensions: [String]
  /// Whether the store is not to be written.
  public var isReadOnly: Bool

  /// A store to open.
  public struct Store: Sendable, Equatable {
    /// The path.
    public var path: String
    /// The configuration of the model whose entities the store holds; nil for all.
    public var configuration: String?

    /// Makes a store.
    public init(path: String, configuration: String? = nil) {
      self.path = path
      self.configuration = configuration
    }
  }

  /// How a model is given.
  public enum ModelChoice: Sendable {
    /// A file or folder.
    case path(String)
    /// A model that a script holds.
    case model(ManagedObjectModel)
  }

  /// Makes a request.
  public init(stores: [Store] = [], model: ModelChoice? = nil, extensions: [String] = [], isReadOnly: Bool = false) {
    self.stores = stores
    self.model = model
    self.extensions = extensions
    self.isReadOnly = isReadOnly
  }
}

/// What opening gives: stores with a model, and the extensions of its contexts.
public struct OpenedContainer {
  /// The coordinator of the stores.
  public var coordinator: PersistentStoreCoordinator
  /// The extensions.
  public var extensions: ScriptExtensions

  /// Makes a pair.
  public init(coordinator: PersistentStoreCoordinator, extensions: ScriptExtensions) {
    self.coordinator = coordinator
    self.extensions = extensions
  }
}

/// Opens stores for scripts. The scripting layer knows no kind of store; whoever runs scripts does.
public protocol ContainerOpener: Sendable {
  /// Opens what a script asks for.
  func open(_ request: ContainerRequest) throws -> OpenedContainer
}
