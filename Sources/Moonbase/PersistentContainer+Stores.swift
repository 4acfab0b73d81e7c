import MoonbaseGraph
public import MoonbasePlatform
import MoonbaseSQLiteStore
public import MoonbaseSQLiteTools

/// A store of a container: its description, and the store once it is open.
struct StoreEntry: Sendable {
  let description: PersistentStoreDescription
  var isOpening = false
  /// The open store; nil before it is opened and after it is removed.
  weak var store: (any PersistentStore)?

  init(_ description: PersistentStoreDescription) { self.description = description }
}

extension PersistentContainer {
  /// The descriptions of the container's stores.
  public var persistentStoreDescriptions: [PersistentStoreDescription] { stores.withLock { $0.map(\.description) } }

  /// Opens the stores one after the other, and reports each to `completionHandler`, with the error if it cannot be
  /// opened.
  ///
  /// An error does not affect the remaining stores. Open stores are skipped, so that failed stores can be tried again.
  /// All calls of `completionHandler` are made before this returns. The call may be made on any thread, for example by
  /// a background task, because a container is `Sendable`.
  ///
  /// ```swift
  /// let container = try PersistentContainer(description, loadsStores: false)
  /// container.loadPersistentStores { store, error in
  ///   if let error { print("\(store.url?.path ?? "memory") is not here: \(error)") }
  /// }
  /// ```
  public func loadPersistentStores(completionHandler: (PersistentStoreDescription, (any Error)?) -> Void) {
    do { try checkOpen() } catch {
      for description in persistentStoreDescriptions { completionHandler(description, error) }
      return
    }
    for index in stores.withLock({ Array($0.indices) }) {
      guard let description = claim(index) else { continue }
      do {
        try open(description, at: index)
        completionHandler(description, nil)
      } catch {
        completionHandler(description, error)
      }
    }
  }

  /// Copies the container's store, which may be in use, together with the external values in files of their own
  /// (`SQLiteStore.backUp`).
  ///
  /// Throws `.invalidRequest` without a SQLite store, or with several: then back up each of them.
  public func backUp(
    to url: URL, replacing: Bool = false, _ progress: (BackupProgress) throws -> Void = { _ in }
  ) throws {
    let stores = coordinator.persistentStores.compactMap { $0 as? SQLiteStore }
    guard stores.count == 1 else {
      throw GraphError(
        .invalidRequest,
        message: stores.isEmpty
          ? "no SQLite store is open here, so there is no file to back up"
          : "\(stores.count) stores are open here: back each of them up, with its own backUp(to:)")
    }
    try stores[0].backUp(to: url, replacing: replacing, progress)
  }

  /// Closes the view context and the stores, while other contexts may be at work. Discards unsaved changes of the view
  /// context.
  ///
  /// Saves that are being written are completed; waiting and later saves throw. Reads end with an error, even within a
  /// statement, and the files are closed when this returns. Tasks that wait for a context of the pool (`withContext`)
  /// throw. From then on, calls of the container, of its view context and of contexts of its stores throw. Contexts of
  /// `newBackgroundContext` keep the values that they have read. Closing a container again does nothing.
  ///
  /// Throws `.recursiveSave` and `.contextBusy` within a hook of the view context, `.contextBusy` within a function of
  /// a batch request, and `.invalidRequest` within a transaction of the view context. Then the container stays open.
  @MainActor public func close() throws {
    try ManagedObjectContext.refuseWithinFunctions("a container was closed")
    try BatchInsertHandler.refuse("a container was closed")
    try madeViewContext?.close()
    guard coordinator.close(Self.closedError) else { return }
    following.withLock { $0 = nil }
    pool.close(Self.closedError)
    for store in coordinator.persistentStores {
      try coordinator.remove(store)
      store.close()
    }
    coordinator.endSaves()
    extensions.endReloads()
  }

  /// Throws `.containerClosed` if the container was closed.
  func checkOpen() throws {
    if let error = coordinator.closingError { throw error }
  }

  private static var closedError: GraphError {
    GraphError(.containerClosed, message: "the container was closed: make a new one")
  }

  /// Opens all stores. Throws the first error.
  func loadAllStores() throws {
    for index in stores.withLock({ Array($0.indices) }) {
      guard let description = claim(index) else { continue }
      try open(description, at: index)
    }
  }

  /// Reserves a store for opening; nil if it is open or being opened.
  private func claim(_ index: Int) -> PersistentStoreDescription? {
    stores.withLock { stores in
      if stores[index].isOpening { return nil }
      if let known = stores[index].store, coordinator.persistentStores.contains(where: { $0 === known }) { return nil }
      stores[index].isOpening = true
      return stores[index].description
    }
  }

  private func open(_ description: PersistentStoreDescription, at index: Int) throws {
    var opened: (any PersistentStore)?
    defer {
      stores.withLock { stores in
        stores[index].isOpening = false
        stores[index].store = opened
      }
    }
    let store = try description.open(coordinator.model)
    do {
      try checkExtensions(of: store)
      try coordinator.add(store)
    } catch {
      store.close()
      throw error
    }
    opened = store
  }
}
