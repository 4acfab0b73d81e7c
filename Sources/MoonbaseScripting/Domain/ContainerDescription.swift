public import MoonbaseGraph
public import MoonbaseLua
public import MoonbaseModel
public import MoonbasePlatform

/// The parts of a container. Options of the command, the table passed to `moonbase.open` and Swift code are all
/// converted to a description; `PersistentContainer` opens it.
///
/// ```swift
/// var description = ContainerDescription(model: .file(modelURL), stores: [.sqlite(storeURL)])
/// description.extensions = [.file(colorsURL)]
/// let container = try PersistentContainer(description)
/// ```
///
/// A description is a value without open files: opening happens in `PersistentContainer`, once per description and any
/// number of times for copies. Settings of stores are those of `PersistentStoreDescription`; settings here concern
/// extensions and contexts.
public struct ContainerDescription: Sendable {
  /// The source of the model.
  public enum Model: Sendable {
    /// A model in any form that `ManagedObjectModel(contentsOf:)` reads.
    case file(URL)
    /// A model as a value.
    case value(ManagedObjectModel)
    /// The model kept in the first existing store; an empty model without stores.
    case kept
  }

  /// The source of the model.
  public var model: Model
  /// The stores; none means a single store in memory.
  public var stores: [PersistentStoreDescription]
  /// The extensions, in any order.
  public var extensions: [ExtensionSource]
  /// Subclasses of `ManagedObject` by the class names of the model.
  public var classes: [String: ManagedObject.Type] = [:]
  /// The limits of the Lua states that run extensions for Swift code and pure functions for stores.
  public var limits = LuaLimits()
  /// The number of contexts that `withContext` and `performBackgroundTask` use at the same time; further calls wait.
  /// Each context has a thread and, with extensions, a Lua state.
  public var backgroundContextLimit = 8
  /// Records the cost of extensions' functions; nil records nothing and has no overhead.
  public var profile: ExtensionProfile?
  /// Receives the saves, fetches and faults of contexts; nil has no overhead.
  public var meter: (any GraphMeter)?
  /// The language of rule messages, as `de-AT`; nil for that of the environment or the system.
  public var language: String?

  /// The limits of extensions, by their names or those of their files, whose sources have no limits.
  public var extensionLimits: [String: ExtensionLimits] = [:]
  /// Receives each call that exceeded its extension's limits, on the thread of the call.
  public var onExceeding: (@Sendable (ExtensionExcess) -> Void)?

  /// The handling of extensions that a store remembers and that are not in `extensions`.
  public var missingExtensions = MissingExtensions.ignored

  /// Receives the log messages of extensions in contexts of Swift code; nil writes them to standard error.
  public var log: (@Sendable (ScriptLogEntry) -> Void)?

  /// Receives the text that extensions print in contexts of Swift code, on the thread of the call, with a flag for
  /// `io.stderr`; nil writes it to the standard streams.
  public var printed: (@Sendable (_ text: String, _ isError: Bool) -> Void)?

  /// A description of these parts.
  public init(
    model: Model = .kept, stores: [PersistentStoreDescription] = [], extensions: [ExtensionSource] = []
  ) {
    self.model = model
    self.stores = stores
    self.extensions = extensions
  }

  /// Makes all stores in files read-only. Stores in memory stay writable. The command uses this for its pure sandbox: a
  /// script may still work in stores in memory. Call this after all stores were added.
  package mutating func setFilesReadOnly() {
    for index in stores.indices where !stores[index].isInMemory { stores[index].isReadOnly = true }
  }

  /// Makes all stores read-only. Saves then throw `.readOnlyStore`. Call this after all stores were added.
  public mutating func setReadOnly() {
    for index in stores.indices { stores[index].isReadOnly = true }
  }
}

/// Opens what a script describes. This layer knows no kind of store: `{ try PersistentContainer($0).opened }` does.
public typealias ContainerOpener = @Sendable (ContainerDescription) throws -> StoreHandle
