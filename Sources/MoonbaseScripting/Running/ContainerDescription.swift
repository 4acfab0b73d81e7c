public import MoonbaseGraph
public import MoonbaseLua
public import MoonbaseModel
public import MoonbasePlatform

/// What a container is made of. The options of the command, the table that a script gives to `moonbase.open`, and Swift code all
/// become one of these; `PersistentContainer` opens it.
///
/// ```swift
/// var description = ContainerDescription(model: .file(modelURL), stores: [.sqlite(storeURL)])
/// description.extensions = [.file(colorsURL)]
/// let container = try PersistentContainer(description)
/// ```
public struct ContainerDescription: Sendable {
  /// Where the model comes from.
  public enum Model: Sendable {
    /// A model in any form that `ManagedObjectModel(contentsOf:)` reads.
    case file(URL)
    /// A model as a value.
    case value(ManagedObjectModel)
    /// The model that the first store that exists keeps of itself; an empty one where there are no stores.
    case kept
  }

  /// Where the model comes from.
  public var model: Model
  /// The stores; none for one in memory.
  public var stores: [PersistentStoreDescription]
  /// The extensions, in any order.
  public var extensions: [ExtensionSource]
  /// Subclasses of `ManagedObject` by the class names of the model.
  public var classes: [String: ManagedObject.Type] = [:]
  /// The limits of the Lua states that run extensions for Swift code and pure functions for stores.
  public var limits = LuaLimits()
  /// The number of contexts that `withContext` and `performBackgroundTask` use at the same time; further calls wait.
  /// Each context has a thread and, where there are extensions, a Lua state.
  public var backgroundContextLimit = 8
  /// Counts what the functions of extensions cost; nil counts nothing, and costs nothing.
  public var profile: ExtensionProfile?
  /// Receives the saves, fetches and reads of faults of contexts. Nil costs nothing.
  public var meter: (any GraphMeter)?
  /// The language in which rules of extensions tell what is wrong, as `de-AT`; nil for that of the environment or the
  /// system.
  public var language: String?

  /// The limits of extensions by their names, or those of their files, where their sources have no limits of their own.
  public var extensionLimits: [String: ExtensionLimits] = [:]
  /// Receives each call that exceeded the limits of its extension, on the thread of the call.
  public var onExceeding: (@Sendable (ExtensionExcess) -> Void)?

  /// The answer to extensions that a store remembers and that are not among these.
  public var missingExtensions = MissingExtensions.ignored

  /// Takes what extensions log in the contexts of Swift code; nil tells it on standard error.
  public var log: (@Sendable (ScriptLogEntry) -> Void)?

  /// Takes what extensions print in the contexts of Swift code, on the thread of the call, and whether that is of
  /// `io.stderr`; nil writes it to the standard streams.
  public var printed: (@Sendable (_ text: String, _ isError: Bool) -> Void)?

  /// Makes a description.
  public init(
    model: Model = .kept, stores: [PersistentStoreDescription] = [], extensions: [ExtensionSource] = []
  ) {
    self.model = model
    self.stores = stores
    self.extensions = extensions
  }

  /// Lets no file be written. Stores in memory stay as they are.
  package mutating func setFilesReadOnly() {
    for index in stores.indices where !stores[index].isInMemory { stores[index].isReadOnly = true }
  }

  /// Lets no store be written.
  public mutating func setReadOnly() {
    for index in stores.indices { stores[index].isReadOnly = true }
  }
}

/// What opening gives: stores with a model, and the extensions of its contexts.
public struct StoreHandle {
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

/// Opens what a script describes. This layer knows no kind of store: `{ try PersistentContainer($0).opened }` does.
public typealias ContainerOpener = @Sendable (ContainerDescription) throws -> StoreHandle
