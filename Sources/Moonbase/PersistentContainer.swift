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
  /// The extensions; every context runs its own instance of them.
  public let extensions: ScriptExtensions

  /// The stores, with the state of their opening.
  let stores: Lock<[StoreEntry]>

  /// The reaction to extensions that stores remember and the container lacks.
  let missingExtensions: MissingExtensions

  /// The view context, once it was asked for.
  @MainActor var madeViewContext: ManagedObjectContext? { viewContextOwner.context }
  private let viewContextOwner = ViewContextOwner()
  /// The contexts of `withContext`.
  let pool: BackgroundContextPool
  /// Notifies the view context of reloads.
  let following = Lock<ExtensionObservation?>(nil)
  /// Whether a task that adopts reloads is waiting for the main actor.
  let hasPendingReload = Lock(false)

  /// Loads the extensions, Lua files and Swift code in one list, and opens the stores.
  ///
  /// If `loadsStores` is false, `loadPersistentStores` opens the stores later. Extensions may add transient attributes
  /// to the model. Throws `ModelError` for an inconsistent model, `ScriptError` for an extension that fails to load or
  /// does not fit the model, and `GraphError` for a class name that no entity has (`.unknownName`) and for the first
  /// store that cannot be opened. Then the stores before it are closed again; a file that was created for one of them
  /// remains as an empty store.
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
    try Self.check(description.classes, in: coordinator.model)
    for (name, type) in description.classes { coordinator.register(type, forClassName: name) }
    let descriptions = description.stores.isEmpty ? [.inMemory] : description.stores
    stores = Lock(descriptions.map { StoreEntry($0) })
    pool = BackgroundContextPool(limit: description.backgroundContextLimit) { [coordinator, extensions] in
      try BackgroundContext(coordinator, extensions: extensions, name: "moonbase pool")
    }
    followReloads()
    if loadsStores { try loadAllStores() }
  }

  /// Throws `.unknownName` for a class name that no entity of the model has: the objects would lack the class.
  private static func check(_ classes: [String: ManagedObject.Type], in model: ResolvedModel) throws {
    guard !classes.isEmpty else { return }
    let named = model.entities.compactMap(\.description.managedObjectClassName)
    let known = Set(named + named.map { $0.split(separator: ".").last.map(String.init) ?? $0 })
    for name in classes.keys.sorted() where !known.contains(name) {
      throw GraphError(
        .unknownName,
        message:
          "no entity has the class \(name)\(suggestion(for: name, among: known.sorted())): name the class in the model "
          + "(EntityDescription, class:), or leave it out of classes")
    }
  }

  /// Opens a container with one store.
  public convenience init(
    model: ManagedObjectModel, store: PersistentStoreDescription, extensions: [ExtensionSource] = [],
    classes: [String: ManagedObject.Type] = [:], limits: LuaLimits = LuaLimits()
  ) throws {
    try self.init(model: model, stores: [store], extensions: extensions, classes: classes, limits: limits)
  }

  /// Opens a container with several stores, each with the entities of its configuration.
  public convenience init(
    model: ManagedObjectModel, stores: [PersistentStoreDescription], extensions: [ExtensionSource] = [],
    classes: [String: ManagedObject.Type] = [:], limits: LuaLimits = LuaLimits()
  ) throws {
    var description = ContainerDescription(model: .value(model), stores: stores, extensions: extensions)
    description.classes = classes
    description.limits = limits
    try self.init(description)
  }

  /// The handle that a script receives when it opens the container.
  public var opened: StoreHandle { StoreHandle(coordinator: coordinator, extensions: extensions) }

  /// The context of the main actor.
  ///
  /// At the first use, throws the errors of loading an extension.
  @MainActor public var viewContext: ManagedObjectContext {
    get throws {
      try checkOpen()
      if let madeViewContext { return madeViewContext }
      let context = try ManagedObjectContext(coordinator, extensions: extensions)
      context.confineToMainActor()
      context.hostSettings.onNews = { [weak self] in
        Task.detached { @MainActor in self?.madeViewContext?.mergeArrivedSaves() }
      }
      viewContextOwner.context = context
      return context
    }
  }

  /// Makes a context on a thread of its own.
  public func newBackgroundContext() throws -> BackgroundContext {
    try checkOpen()
    return try BackgroundContext(coordinator, extensions: extensions)
  }

  /// Runs `body` with a new context on a thread of its own. Changes that `body` does not save are discarded when it
  /// ends.
  ///
  /// Threads, and the Lua states of the extensions, belong to a pool. If as many contexts are in use as the
  /// description's `backgroundContextLimit` allows, calls wait in their order, so a server may request a context for
  /// each of its requests.
  ///
  /// ```swift
  /// let names = try await container.withContext { context in
  ///   try context.fetch(Person.self, where: Person.age > 30).map(\.name)
  /// }
  /// ```
  ///
  /// `body` may be suspended, and keeps its context meanwhile. A child task waits for a context of its own. `body`
  /// should not wait for such a task: if all contexts are used by calls that wait like this, none of them ends.
  ///
  /// Throws the error of `body`. Throws `CancellationError` if the task is cancelled while it waits, `.contextBusy`
  /// within the `body` of another call by the same task, and `.containerClosed` if the container is closed before or
  /// meanwhile.
  public func withContext<Output>(
    _ body: sending nonisolated(nonsending) (ManagedObjectContext) async throws -> sending Output
  ) async throws -> sending Output {
    try checkOpen()
    return try await pool.withContext(body)
  }

  /// Runs `body` like `withContext`, under Core Data's name.
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
