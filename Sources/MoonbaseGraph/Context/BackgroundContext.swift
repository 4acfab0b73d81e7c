import MoonbaseModel
import MoonbasePlatform

/// An actor that owns a managed object context on a thread of its own.
///
/// Arguments and results of `perform` must be `Sendable` or disconnected. IDs, values and dictionaries pass; returning
/// a managed object does not compile. The context merges the saves of other contexts automatically
/// (`automaticallyMergesChangesFromParent`).
///
/// ```swift
/// let ids = try await background.perform { context in
///   try context.fetchIDs(FetchRequest("Person"))
/// }
/// ```
public actor BackgroundContext {
  /// The thread of the context.
  private let executor: ThreadExecutor
  /// The context, which only the actor's thread uses; replaced by `renew`.
  private(set) var context: ManagedObjectContext
  /// Queues the closures of `perform`: a suspended closure keeps its turn.
  package nonisolated let turns: TurnQueue
  /// Walks (`fetchedObjects`) that are continued on request, by number.
  var walks: [Int: WalkState] = [:]
  /// The number of the last walk.
  private var lastWalk = 0
  /// Receives saves of other contexts, on their threads.
  private nonisolated let mail = SaveNotifier()

  /// The executor of the context's own thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Makes a context over a coordinator, with a registry of its own from `extensions`, on a new thread. Throws the
  /// errors of `extensions`, and `.storeFailure` if no thread can be started.
  public init(
    _ coordinator: PersistentStoreCoordinator, extensions: (any ExtensionProvider)? = nil,
    name: String = "MoonbaseGraph.BackgroundContext"
  ) throws {
    let executor = ThreadExecutor(name: name)
    let mail = mail
    // The context is made on the thread and used only there.
    nonisolated(unsafe) var made: Result<ManagedObjectContext, any Error>?  // sound: `runAndWait` orders the accesses
    executor.runAndWait {
      made = Result {
        let registry = try extensions?.makeRegistry() ?? ExtensionRegistry()
        return Self.make(coordinator, registry, on: executor, mail)
      }
    }
    guard let made else {
      throw GraphError(.storeFailure, message: "the thread of a background context could not be started")
    }
    self.executor = executor
    turns = TurnQueue(limit: 1, name: "the background context '\(name)'")
    context = try made.get()
    mail.deliver(to: self)
  }

  /// Makes a context that belongs to the executor's thread.
  private static func make(
    _ coordinator: PersistentStoreCoordinator, _ registry: ExtensionRegistry, on executor: ThreadExecutor,
    _ mail: SaveNotifier
  ) -> ManagedObjectContext {
    let context = ManagedObjectContext(coordinator, extensionRegistry: registry)
    context.confine(to: executor.confinement)
    context.hostSettings.onNews = { mail.arrived() }
    context.automaticallyMergesChangesFromParent = true
    return context
  }

  /// Keeps a walk for its continuation, and returns its number.
  func add(_ walk: WalkState) -> Int {
    lastWalk += 1
    walks[lastWalk] = walk
    return lastWalk
  }

  /// Runs `body` with the context on its thread and returns the result.
  ///
  /// Closures run one after the other, in the order of the calls. A suspended closure also keeps the context: no other
  /// closure sees or changes the context before it has ended. For observers, the end of a closure is the end of an
  /// event.
  ///
  /// ```swift
  /// try await background.perform { context in
  ///   let person = try context.insert(Person.self)
  ///   person.name = try await nameService.next()      // other closures wait meanwhile
  ///   try context.save()
  /// }
  /// ```
  ///
  /// Throws the errors of `body`, and `CancellationError` if the task is cancelled while it waits for its turn. Throws
  /// `.contextBusy` within a closure of the same context, where the call would wait for itself. Child tasks and tasks
  /// that the closure starts count as part of the closure as long as it runs.
  public func perform<Output>(
    _ body: sending nonisolated(nonsending) (ManagedObjectContext) async throws -> sending Output
  ) async throws -> sending Output {
    let turn = try await turns.acquire()
    defer { turn.end() }
    let context = context
    defer { context.endChangeEvent() }
    context.followExtensions()
    do {
      nonisolated(unsafe) let output = try await HeldTurn.$current.withValue(turn) {  // sound: `body` sends it
        // The closure is isolated to the actor, so `body` runs on the context's thread.
        preconditionIsolated()
        return try await body(context)
      }
      Confinement.checkLeaving(output)
      return output
    } catch {
      Confinement.checkLeaving(error)
      throw error
    }
  }

  /// Discards all unsaved changes and releases all objects with their memory. Later requests throw `.invalidObject`.
  ///
  /// The thread ends with the last reference. Waits for the running closure. Throws `.contextBusy` within such a
  /// closure, and within a hook.
  public func close() async throws {
    let turn = try await turns.acquire()
    defer { turn.end() }
    try context.close()
    walks = [:]
  }

  /// Closes the context and makes a new context with the same extensions.
  ///
  /// Objects, changes, observers and settings of the former context are lost.
  func renew() throws {
    let former = context
    walks = [:]
    try former.close()
    context = Self.make(former.coordinator, former.extensionRegistry, on: executor, mail)
  }

  /// Runs the only closure of a context that is renewed afterwards.
  ///
  /// Also throws an error that an accessor kept, which no later call could throw. Used by the pool of a container.
  func performOnce<Output>(
    _ body: sending nonisolated(nonsending) (ManagedObjectContext) async throws -> sending Output
  ) async throws -> sending Output {
    try await perform { context in
      let output = try await body(context)
      try context.throwPendingError()
      return output
    }
  }

  /// Merges the saves of other contexts, between closures. Called from a task of its own for each save.
  fileprivate func mergeArrivedSaves() async {
    // A context that is closed, or busy with the current task, merges nothing.
    guard let turn = try? await turns.acquire() else { return }
    defer { turn.end() }
    context.mergeArrivedSaves()
  }

  /// Runs `body` with the context on its thread and waits; runs inline if the caller is on that thread.
  ///
  /// Waits for a turn like `perform`. Throws `.contextBusy` if the calling task has the turn and runs elsewhere, and on
  /// the context's thread if a suspended closure has the turn: waiting would block the thread that the closure needs.
  public nonisolated func performAndWait<Output>(
    _ body: sending (ManagedObjectContext) throws -> sending Output
  ) throws -> sending Output {
    let turn = executor.isCurrent ? try turns.acquireUnlessHeld() : try turns.acquireAndWait()
    defer { turn?.end() }
    nonisolated(unsafe) var result: Result<Output, any Error>?  // sound: `runAndWait` orders the accesses
    nonisolated(unsafe) let body = body  // sound: runs only while the caller waits
    executor.runAndWait {
      self.assumeIsolated { isolated in
        result = HeldTurn.$current.withValue(turn ?? HeldTurn.current) {
          Self.run(body, in: isolated.context, endsEvent: turn != nil)
        }
      }
    }
    guard let result else { preconditionFailure("the context's thread ended while its context was in use") }
    return try result.get()
  }

  /// Runs `body` and ends the event, unless the call is nested.
  private static func run<Output>(
    _ body: (ManagedObjectContext) throws -> sending Output, in context: ManagedObjectContext, endsEvent: Bool
  ) -> Result<Output, any Error> {
    context.followExtensions()
    defer { if endsEvent { context.endChangeEvent() } }
    do {
      let output = try body(context)
      Confinement.checkLeaving(output)
      return .success(output)
    } catch {
      Confinement.checkLeaving(error)
      return .failure(error)
    }
  }
}

/// Notifies a context of saves by other contexts, without retaining it.
///
/// The context's notifier is called on other threads; a weak reference suffices, since a released context has nothing
/// to merge.
private final class SaveNotifier: Sendable {
  /// A weak reference in a value, so that the lock can hold it.
  private struct Address: Sendable {
    weak var context: BackgroundContext?
  }

  /// Nil before `deliver` and after the context's end.
  private let address = Lock(Address())

  /// Sets the context to notify.
  func deliver(to context: BackgroundContext) { address.withLock { $0.context = context } }

  /// Notifies the context, if it still exists, that saves wait to be merged.
  func arrived() {
    guard let context = address.withLock({ $0.context }) else { return }
    // Detached, because the saving task's turns must not count as turns of this task.
    Task.detached { await context.mergeArrivedSaves() }
  }
}
