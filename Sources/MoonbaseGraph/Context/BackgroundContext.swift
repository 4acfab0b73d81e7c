import MoonbaseModel

/// An actor that owns a managed object context on a thread of its own.
///
/// What goes in and out of `perform` must be `Sendable` or disconnected: IDs, values and dictionaries pass, and returning a
/// managed object does not compile.
///
/// ```swift
/// let ids = try await background.perform { context in
///   try context.fetchIDs(FetchRequest("Person"))
/// }
/// ```
public actor BackgroundContext {
  private let executor: ThreadExecutor
  let context: ManagedObjectContext
  /// Walks that go on when they are asked to.
  var walks: [Int: WalkState] = [:]
  private var lastWalk = 0

  /// The executor of the context's own thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Makes a context over a coordinator, with a registry of its own from `extensions`, on a new thread.
  public init(
    _ coordinator: PersistentStoreCoordinator, extensions: (any ExtensionProvider)? = nil,
    name: String = "MoonbaseGraph.BackgroundContext"
  ) throws {
    let executor = ThreadExecutor(name: name)
    // Made on the thread, and from then on touched only there.
    nonisolated(unsafe) var made: Result<ManagedObjectContext, any Error>?  // sound: `runAndWait` orders the accesses
    executor.runAndWait {
      made = Result {
        let context = try ManagedObjectContext(coordinator, extensions: extensions)
        context.confine(to: executor.confinement)
        return context
      }
    }
    guard let made else {
      throw GraphError(.storeFailure, message: "the thread of a background context could not be started")
    }
    self.executor = executor
    context = try made.get()
  }

  func add(_ walk: WalkState) -> Int {
    lastWalk += 1
    walks[lastWalk] = walk
    return lastWalk
  }

  /// Runs `body` with the context on its thread and returns what it returns.
  public func perform<Output, Failure: Error>(
    _ body: sending (ManagedObjectContext) throws(Failure) -> sending Output
  ) async throws(Failure) -> sending Output {
    context.followExtensions()
    do throws(Failure) {
      let output = try body(context)
      Confinement.checkLeaving(output)
      return output
    } catch {
      Confinement.checkLeaving(error)
      throw error
    }
  }

  /// Gives up all unsaved changes and all objects, and the memory that they hold. What is asked of the context from then on throws
  /// `.invalidObject`. The thread goes with the last reference.
  ///
  /// Throws `.contextBusy` within a hook.
  public func close() throws {
    try context.close()
    walks = [:]
  }

  /// Runs `body` with the context on its thread and waits; inline when already on that thread.
  public nonisolated func performAndWait<Output, Failure: Error>(
    _ body: sending (ManagedObjectContext) throws(Failure) -> sending Output
  ) throws(Failure) -> sending Output {
    nonisolated(unsafe) var result: Result<Output, Failure>?  // sound: `runAndWait` orders the accesses
    nonisolated(unsafe) let body = body  // sound: it runs while the caller waits
    executor.runAndWait {
      self.assumeIsolated { isolated in
        result = Self.run(body, in: isolated.context)
      }
    }
    guard let result else { preconditionFailure("the context's thread ended while its context was in use") }
    return try result.get()
  }

  private static func run<Output, Failure: Error>(
    _ body: (ManagedObjectContext) throws(Failure) -> sending Output, in context: ManagedObjectContext
  ) -> Result<Output, Failure> {
    context.followExtensions()
    do throws(Failure) {
      let output = try body(context)
      Confinement.checkLeaving(output)
      return .success(output)
    } catch {
      Confinement.checkLeaving(error)
      return .failure(error)
    }
  }
}
