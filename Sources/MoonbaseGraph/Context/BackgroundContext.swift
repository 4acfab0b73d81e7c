import MoonbaseModel
import MoonbasePlatform

/// An actor that owns a managed object context on a thread of its own.
///
/// Arguments and results of `perform` must be `Sendable` or disconnected. IDs, values and dictionaries pass; returning
/// a managed object does not compile. The context takes in what other contexts save
/// (`automaticallyMergesChangesFromParent`).
///
/// ```swift
/// let ids = try await background.perform { context in
///   try context.fetchIDs(FetchRequest("Person"))
/// }
/// ```
public actor BackgroundContext {
  private let executor: ThreadExecutor
  private(set) var context: ManagedObjectContext
  /// The turns of closures: a suspended closure keeps its turn.
  package nonisolated let turns: TurnQueue
  /// Walks that go on when they are asked to.
  var walks: [Int: WalkState] = [:]
  private var lastWalk = 0
  private nonisolated let mail = ContextMail()

  /// The executor of the context's own thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Makes a context over a coordinator, with a registry of its own from `extensions`, on a new thread.
  public init(
    _ coordinator: PersistentStoreCoordinator, extensions: (any ExtensionProvider)? = nil,
    name: String = "MoonbaseGraph.BackgroundContext"
  ) throws {
    let executor = ThreadExecutor(name: name)
    let mail = mail
    // Made on the thread, and from then on touched only there.
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

  private static func make(
    _ coordinator: PersistentStoreCoordinator, _ registry: ExtensionRegistry, on executor: ThreadExecutor,
    _ mail: ContextMail
  ) -> ManagedObjectContext {
    let context = ManagedObjectContext(coordinator, extensionRegistry: registry)
    context.confine(to: executor.confinement)
    context.onNews = { mail.arrived() }
    context.automaticallyMergesChangesFromParent = true
    return context
  }

  func add(_ walk: WalkState) -> Int {
    lastWalk += 1
    walks[lastWalk] = walk
    return lastWalk
  }

  /// Runs `body` with the context on its thread and returns what it returns.
  ///
  /// Closures have the context one after the other, in the order in which they were asked for. That holds for a closure
  /// that is suspended too: no other closure sees or changes the context before it has ended. The end of a
  /// closure is the end of an event for observers.
  ///
  /// ```swift
  /// try await background.perform { context in
  ///   let person = try context.insert(Person.self)
  ///   person.name = try await nameService.next()      // other closures wait meanwhile
  ///   try context.save()
  /// }
  /// ```
  ///
  /// Throws what `body` throws, `CancellationError` where the task is cancelled while it waits for its turn, and
  /// `.contextBusy` within a closure of the same context: it would wait for itself. Child tasks and tasks that the
  /// closure starts count as part of it as long as it runs.
  public func perform<Output>(
    _ body: sending nonisolated(nonsending) (ManagedObjectContext) async throws -> sending Output
  ) async throws -> sending Output {
    let turn = try await turns.take()
    defer { turn.end() }
    let context = context
    defer { context.endChangeEvent() }
    context.followExtensions()
    do {
      nonisolated(unsafe) let output = try await HeldTurn.$current.withValue(turn) {  // sound: `body` gives it away
        // The closure is the actor's, and so `body` runs on the context's thread.
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

  /// Gives up all unsaved changes and all objects, and the memory that they hold. Later requests to the context throw
  /// `.invalidObject`. The thread goes with the last reference.
  ///
  /// Waits for the closure that has the context. Throws `.contextBusy` within one, and within a hook.
  public func close() async throws {
    let turn = try await turns.take()
    defer { turn.end() }
    try context.close()
    walks = [:]
  }

  /// Closes the context and makes another one, without objects, changes, observers and settings of the former, which
  /// runs the same extensions.
  func renew() throws {
    let former = context
    walks = [:]
    try former.close()
    context = Self.make(former.coordinator, former.extensionRegistry, on: executor, mail)
  }

  /// Runs the only closure of a context that is renewed afterwards. Throws an error that an accessor kept, which no later
  /// call could throw.
  func performOnce<Output>(
    _ body: sending nonisolated(nonsending) (ManagedObjectContext) async throws -> sending Output
  ) async throws -> sending Output {
    try await perform { context in
      let output = try await body(context)
      try context.throwPendingError()
      return output
    }
  }

  /// Takes in what other contexts saved, between closures.
  fileprivate func takeNews() async {
    // A context that is closed or busy with its own task takes none.
    guard let turn = try? await turns.take() else { return }
    defer { turn.end() }
    context.takeNews()
  }

  /// Runs `body` with the context on its thread and waits; inline when already on that thread.
  ///
  /// Waits for its turn as `perform` does, and throws `.contextBusy` where that is the turn of its own task.
  public nonisolated func performAndWait<Output>(
    _ body: sending (ManagedObjectContext) throws -> sending Output
  ) throws -> sending Output {
    let turn = executor.isCurrent ? nil : try turns.takeAndWait()
    defer { turn?.end() }
    nonisolated(unsafe) var result: Result<Output, any Error>?  // sound: `runAndWait` orders the accesses
    nonisolated(unsafe) let body = body  // sound: it runs while the caller waits
    executor.runAndWait {
      self.assumeIsolated { isolated in
        result = Self.run(body, in: isolated.context, endsEvent: turn != nil)
      }
    }
    guard let result else { preconditionFailure("the context's thread ended while its context was in use") }
    return try result.get()
  }

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

/// Leads from the saves of other contexts to the context that is to take them in, without keeping it.
private final class ContextMail: Sendable {
  private struct Address: Sendable {
    weak var context: BackgroundContext?
  }

  private let address = Lock(Address())

  func deliver(to context: BackgroundContext) { address.withLock { $0.context = context } }

  func arrived() {
    guard let context = address.withLock({ $0.context }) else { return }
    // No part of the task that saved, whose turns are not those of this task.
    Task.detached { await context.takeNews() }
  }
}
