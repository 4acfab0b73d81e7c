import MoonbaseGraph
public import MoonbaseLua
import MoonbasePlatform

/// A model, its stores and its extensions, and the contexts over them.
///
/// ```swift
/// let container = try PersistentContainer(
///   model: .init(contentsOf: modelURL), store: .sqlite(storeURL), extensions: [.file(colorsURL)])
/// let person = try container.viewContext.insert("Person", values: ["firstName": "Captain"])
/// try container.viewContext.save()
/// ```
public final class PersistentContainer: Sendable {
  /// The coordinator of the stores.
  public let coordinator: PersistentStoreCoordinator
  /// The extensions that every context gets a domain of.
  public let extensions: ScriptExtensions

  /// The stores, and whether each is being opened.
  let stores: Lock<[StorePlace]>

  /// The answer to extensions that stores remember and the container lacks.
  let missingExtensions: MissingExtensions

  @MainActor private(set) var madeViewContext: ManagedObjectContext?
  /// Whether it gives out no more contexts.
  let isClosed = Lock(false)
  /// The contexts of `withContext`.
  let pool: BackgroundContextPool
  /// Tells the view context of reloads.
  let following = Lock<ExtensionObservation?>(nil)
  /// Whether the main actor will look for what was reloaded, when it is free.
  let mainActorIsAsked = Lock(false)

  /// Opens stores with a model and loads extensions, Lua files and Swift code in one list. Without `loadsStores` the stores are left to
  /// `loadPersistentStores`.
  ///
  /// The model's transient attributes may come from the extensions. Throws `ModelError` for a model that contradicts itself,
  /// `ScriptError` for an extension that fails to load or does not fit the model, `GraphError` for the first store that cannot be opened. Those
  /// before it are closed again then; a file that was made for one stays, as an empty store.
  public init(_ description: ContainerDescription, loadsStores: Bool = true) throws {
    let sources = try description.openExtensions()
    extensions = try ScriptExtensions(
      sources, for: description.openModel(), limits: description.limits, profile: description.profile,
      language: description.language, log: description.log, printed: description.printed,
      extensionLimits: description.extensionLimits,
      onExceeding: description.onExceeding, fileGuard: OpenStoreGuard())
    coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
    missingExtensions = description.missingExtensions
    coordinator.meter = description.meter
    for (name, type) in description.classes { coordinator.register(type, forClassName: name) }
    let descriptions = description.stores.isEmpty ? [.inMemory] : description.stores
    stores = Lock(descriptions.map { StorePlace($0) })
    pool = BackgroundContextPool(limit: description.backgroundContextLimit) { [coordinator, extensions] in
      try BackgroundContext(coordinator, extensions: extensions, name: "moonbase pool")
    }
    followReloads()
    if loadsStores { try loadAllStores() }
  }

  /// Opens one store.
  public convenience init(
    model: ManagedObjectModel, store: PersistentStoreDescription, extensions: [ExtensionSource] = [],
    classes: [String: ManagedObject.Type] = [:], limits: LuaLimits = LuaLimits()
  ) throws {
    try self.init(model: model, stores: [store], extensions: extensions, classes: classes, limits: limits)
  }

  /// Opens several stores, each with the entities of its configuration.
  public convenience init(
    model: ManagedObjectModel, stores: [PersistentStoreDescription], extensions: [ExtensionSource] = [],
    classes: [String: ManagedObject.Type] = [:], limits: LuaLimits = LuaLimits()
  ) throws {
    var description = ContainerDescription(model: .value(model), stores: stores, extensions: extensions)
    description.classes = classes
    description.limits = limits
    try self.init(description)
  }

  /// What a script that opened the container gets.
  public var opened: StoreHandle { StoreHandle(coordinator: coordinator, extensions: extensions) }

  /// The context of the main actor.
  ///
  /// Throws at the first use what an extension throws when it is loaded.
  @MainActor public var viewContext: ManagedObjectContext {
    get throws {
      try checkOpen()
      if let madeViewContext { return madeViewContext }
      let context = try ManagedObjectContext(coordinator, extensions: extensions)
      context.confineToMainActor()
      context.onNews = { [weak self] in
        Task.detached { @MainActor in self?.madeViewContext?.takeNews() }
      }
      madeViewContext = context
      return context
    }
  }

  /// A new context on a thread of its own.
  public func newBackgroundContext() throws -> BackgroundContext {
    try checkOpen()
    return try BackgroundContext(coordinator, extensions: extensions)
  }

  /// Runs `body` with a new context on a thread of its own. Changes that `body` does not save are given up when it ends.
  ///
  /// Threads, and the Lua states of the extensions, are those of a pool. Where as many contexts are in use as
  /// `backgroundContextLimit` of the description allows, the call waits, in the order of the calls; so a server may ask
  /// for a context for each of its requests.
  ///
  /// ```swift
  /// let names = try await container.withContext { context in
  ///   try context.fetch(Person.self, where: Person.age > 30).map(\.name)
  /// }
  /// ```
  ///
  /// `body` may be suspended, and keeps its context meanwhile. A child task waits for a context of its own. Let a `body`
  /// not wait for such tasks, for all contexts may be in use by others that do the same.
  ///
  /// Throws the error of `body`. Throws `CancellationError` where the task is cancelled while it waits, `.contextBusy`
  /// within the `body` of another call by the same task, and `.containerClosed` where the container is closed, also
  /// meanwhile.
  public func withContext<Output>(
    _ body: sending nonisolated(nonsending) (ManagedObjectContext) async throws -> sending Output
  ) async throws -> sending Output {
    try checkOpen()
    return try await pool.withContext(body)
  }

  /// Does the same as `withContext`, by Core Data's name.
  ///
  /// ```swift
  /// try await container.performBackgroundTask { context in
  ///   try context.insert("Person", values: ["firstName": "Captain"])
  ///   try context.save()
  /// }
  /// ```
  public func performBackgroundTask<Output>(
    _ body: sending nonisolated(nonsending) (ManagedObjectContext) async throws -> sending Output
  ) async throws -> sending Output {
    try await withContext(body)
  }
}
