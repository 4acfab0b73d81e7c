import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Closures of a background context that suspend before they end.
@Suite(.timeLimit(.minutes(20))) struct SuspendedPerformTests {
  private let background: BackgroundContext
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    coordinator = try People.coordinator()
    background = try BackgroundContext(coordinator)
  }

  /// A gate that a test opens.
  private actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func pass() async { if !isOpen { await withCheckedContinuation { waiting.append($0) } } }

    func open() {
      isOpen = true
      for continuation in waiting { continuation.resume() }
      waiting = []
    }
  }

  private static var thread: ObjectIdentifier { ObjectIdentifier(Thread.current) }

  /// Waits until `count` closures wait for their turn.
  private func waiters(_ count: Int) async throws {
    while background.turns.waitingCount < count { try await Task.sleep(for: .milliseconds(1)) }
  }

  private func look(_ background: isolated BackgroundContext) -> GraphError.Code? {
    do {
      try background.performAndWait { _ = try $0.count(FetchRequest("Person")) }
      return nil
    } catch { return (error as? GraphError)?.code }
  }

  /// Code that is isolated to the actor runs on the context's thread, also while a closure is suspended.
  @Test func codeOfTheActorDoesNotTearASuspendedClosure() async throws {
    let (begun, gate) = (Gate(), Gate())
    #expect(await look(background) == nil)
    let first = Task { [background] in
      try await background.perform { context in
        try context.insert("Person", values: ["firstName": "half"])
        await begun.open()
        await gate.pass()
        #expect(try background.performAndWait { try $0.count(FetchRequest("Person")) } == 1)
        try context.rollback()
      }
    }
    await begun.pass()
    #expect(await look(background) == .contextBusy)
    await gate.open()
    try await first.value
    #expect(await look(background) == nil)
    let nested = try background.performAndWait { _ in
      try background.performAndWait { try $0.count(FetchRequest("Person")) }
    }
    #expect(nested == 0)
  }

  @Test func aSuspendedClosureHasTheContextToItself() async throws {
    let (begun, gate) = (Gate(), Gate())
    let first = Task { [background] in
      try await background.perform { context in
        let thread = Self.thread
        let person = try context.insert("Person", values: ["firstName": "half"])
        await begun.open()
        await gate.pass()
        #expect(Self.thread == thread)
        try person.setValue("whole", forKey: "firstName")
        try context.save()
      }
    }
    await begun.pass()
    let seen = Lock<[String]>([])
    let others = (0..<5).map { number in
      Task { [background] in
        try await background.perform { context in
          seen.withLock { $0.append("\(number)") }
          return try context.fetch(FetchRequest("Person")).map { $0["firstName"] }
        }
      }
    }
    let waiting = Thread { [background] in
      _ = try? background.performAndWait { _ in seen.withLock { $0.append("thread") } }
    }
    waiting.start()
    try await waiters(6)
    #expect(seen.withLock { $0.isEmpty })
    await gate.open()
    try await first.value
    for other in others { #expect(try await other.value == ["whole"]) }
    while seen.withLock({ $0.count }) < 6 { try await Task.sleep(for: .milliseconds(1)) }
  }

  @Test func closuresHaveTheirTurnsInTheOrderOfTheirCalls() async throws {
    let (begun, gate) = (Gate(), Gate())
    let first = Task { [background] in
      try await background.perform { _ in
        await begun.open()
        await gate.pass()
      }
    }
    await begun.pass()
    let order = Lock<[Int]>([])
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<20 {
      tasks.append(Task { [background] in try await background.perform { _ in order.withLock { $0.append(number) } } })
      try await waiters(number + 1)
    }
    await gate.open()
    try await first.value
    for task in tasks { try await task.value }
    #expect(order.withLock { $0 } == Array(0..<20))
  }

  @Test func aTaskThatIsCancelledWhileItWaitsLeavesTheQueue() async throws {
    let (begun, gate) = (Gate(), Gate())
    let first = Task { [background] in
      try await background.perform { _ in
        await begun.open()
        await gate.pass()
      }
    }
    await begun.pass()
    let hasRun = Lock(false)
    let second = Task { [background] in try await background.perform { _ in hasRun.withLock { $0 = true } } }
    let third = Task { [background] in try await background.perform { _ in 3 } }
    try await waiters(2)
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    #expect(background.turns.waitingCount == 1 && !hasRun.withLock { $0 })
    await gate.open()
    try await first.value
    #expect(try await third.value == 3)
  }

  @Test func aClosureWithinAClosureIsAnErrorAndNoHang() async throws {
    let errors = try await background.perform { [background] context in
      var errors: [String] = []
      func trying(_ body: nonisolated(nonsending) () async throws -> Void) async {
        do { try await body() } catch let error as GraphError {
          #expect(error.code == .contextBusy)
          errors.append(error.message)
        } catch { errors.append("another error: \(error)") }
      }
      await trying { try await background.perform { _ in } }
      await trying { try await background.close() }
      await trying { for try await _ in background.batches(of: FetchRequest("Person")) {} }
      // A child task, which the closure waits for.
      await trying {
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await background.perform { _ in } }
          try await group.waitForAll()
        }
      }
      // On another executor, where waiting would block a thread.
      await trying { try await Self.performElsewhere(background) }
      try context.insert("Person")
      try context.save()
      return errors
    }
    #expect(errors.count == 5 && errors.allSatisfy { $0.contains("would wait for itself") }, "\(errors)")
    #expect(try await background.perform { try $0.count(FetchRequest("Person")) } == 1)
  }

  @MainActor private static func performElsewhere(_ background: BackgroundContext) async throws {
    try background.performAndWait { _ in }
  }

  @Test func aClosureThatThrowsOrIsCancelledGivesItsTurnBack() async throws {
    struct Failure: Error {}
    await #expect(throws: Failure.self) {
      try await background.perform { context in
        try context.insert("Person")
        await Task.yield()
        throw Failure()
      }
    }
    let sleeping = Task { [background] in
      try await background.perform { _ in try await Task.sleep(for: .seconds(60)) }
    }
    try await Task.sleep(for: .milliseconds(5))
    sleeping.cancel()
    await #expect(throws: CancellationError.self) { try await sleeping.value }
    // The unsaved object is still there: the context is the same.
    #expect(try await background.perform { $0.insertedObjects.count } == 1)
    #expect(background.turns.waitingCount == 0)
  }

  @Test func aTaskThatAClosureLeftBehindMayAskLater() async throws {
    let task = try await background.perform { [background] _ in
      Task {
        try await Task.sleep(for: .milliseconds(20))
        return try await background.perform { try $0.count(FetchRequest("Person")) }
      }
    }
    #expect(try await task.value == 0)
  }
}
