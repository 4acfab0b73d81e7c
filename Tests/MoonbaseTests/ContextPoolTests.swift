import Moonbase
import MoonbaseLua
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// The limited number of contexts of a container that tasks use in turn.
@Suite(.timeLimit(.minutes(20))) struct ContextPoolTests {
  private static let model = ManagedObjectModel(entities: [
    {
      var person = EntityDescription("Person")
      person.attributes = [AttributeDescription("name", type: .string)]
      return person
    }()
  ])

  private static let text = """
    local count = 0
    return { name = "e", entities = { Person = {
      validate = { name = function(name) return name ~= "bad", "is bad" end },
      derived = { label = { type = "string", inputs = { "name" }, get = function(name) return name.missing.field end } },
      methods = { loop = function() while true do end end },
    } } }
    """

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func container(
    limit: Int = 3, store: PersistentStoreDescription = .inMemory, limits: LuaLimits = LuaLimits()
  ) throws -> PersistentContainer {
    var description = ContainerDescription(
      model: .value(Self.model), stores: [store], extensions: [.text(Self.text, name: "e.lua")])
    description.backgroundContextLimit = limit
    description.limits = limits
    return try PersistentContainer(description)
  }

  /// The failing getter gives no value to an accessor that cannot throw; the closure must fail nevertheless.
  @Test func anErrorThatAnAccessorKeptIsThrownAtTheEnd() async throws {
    let container = try container()
    try await container.withContext { context in
      try context.insert("Person", values: ["name": "Ann"])
      try context.save()
    }
    let error = await #expect(throws: GraphError.self) {
      try await container.withContext { context in
        try context.fetch(FetchRequest("Person")).map { $0["label"] }.count
      }
    }
    #expect(error?.property == "label" && error?.message.contains("e.lua:") == true, "\(error as Any)")
    // If the closure drains the errors itself, it succeeds.
    let count = try await container.withContext { context in
      _ = try context.fetch(FetchRequest("Person")).map { $0["label"] }
      return context.drainAccessorErrors().count
    }
    #expect(count == 1)
    try await container.close()
  }

  @Test func savesEndWhenTheContainerIsClosed() async throws {
    let container = try container()
    let saves = container.coordinator.saves
    let counting = Task {
      var count = 0
      for await save in saves { count += save.inserted.count }
      return count
    }
    try await container.withContext { context in
      try context.insert("Person", values: ["name": "Ann"])
      try context.save()
    }
    try await container.close()
    #expect(await counting.value == 1)
    for await _ in container.coordinator.saves { Issue.record("a save after the end") }
  }

  @Test func noMoreContextsThanTheLimitAreInUse() async throws {
    let container = try container()
    let inUse = Lock((now: 0, most: 0, threads: Set<String>()))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<60 {
        group.addTask {
          try await container.withContext { context in
            inUse.withLock { state in
              state.now += 1
              state.most = max(state.most, state.now)
              state.threads.insert("\(ObjectIdentifier(Thread.current))")
            }
            defer { inUse.withLock { $0.now -= 1 } }
            try context.insert("Person", values: ["name": .string("\(number)")])
            try await Task.sleep(for: .milliseconds(2))
            try context.save()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(inUse.withLock { $0.most == 3 && $0.threads.count == 3 })
    #expect(try await container.withContext { try $0.count(FetchRequest("Person")) } == 60)
  }

  @Test func eachTaskGetsAContextWithoutTracesOfOthers() async throws {
    let container = try container(limit: 1)
    try await container.withContext { context in
      try context.insert("Person", values: ["name": "unsaved"])
      context.name = "mine"
      context.mergePolicy = .mergeByPropertyObjectTrump
      context.transactionAuthor = "me"
      context.undoManager = UndoManager()
    }
    await #expect(throws: GraphError.self) {
      try await container.withContext { context in
        try context.insert("Person", values: ["name": "bad"])
        try context.save()
      }
    }
    try await container.withContext { context in
      #expect(!context.hasChanges && context.registeredObjects.isEmpty && context.pendingErrors.isEmpty)
      #expect(context.name == nil && context.transactionAuthor == nil && context.undoManager == nil)
      let count = try context.count(FetchRequest("Person"))
      #expect(count == 0)
    }
  }

  @Test func aContextWhoseScriptRanOutOfLimitsIsNotInTheWay() async throws {
    var limits = LuaLimits()
    limits.instructions = 100_000
    let container = try container(limit: 1, limits: limits)
    for _ in 0..<3 {
      await #expect(throws: (any Error).self) {
        try await container.withContext { context in
          _ = try context.insert("Person", values: ["name": "a"]).call("loop")
        }
      }
      try await container.withContext { context in
        try context.insert("Person", values: ["name": "good"])
        try context.save()
      }
    }
    #expect(try await container.withContext { try $0.count(FetchRequest("Person")) } == 3)
  }

  @Test func aTaskThatIsCancelledWhileItWaitsLeavesTheQueue() async throws {
    let container = try container(limit: 1)
    let (begun, ends) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let first = Task {
      try await container.withContext { _ in
        begun.signal()
        // The context's own thread, which no other task needs.
        Self.wait(ends)
      }
    }
    await Self.passes(begun)
    let hasRun = Lock(false)
    let second = Task { try await container.withContext { _ in hasRun.withLock { $0 = true } } }
    try await Task.sleep(for: .milliseconds(20))
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    ends.signal()
    try await first.value
    #expect(!hasRun.withLock { $0 })
    #expect(try await container.withContext { _ in 1 } == 1)
  }

  private static func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }

  /// Waits on another thread.
  private static func passes(_ semaphore: DispatchSemaphore) async {
    await withCheckedContinuation { continuation in
      Thread {
        semaphore.wait()
        continuation.resume()
      }.start()
    }
  }

  @Test func aContextWithinAContextIsAnErrorAndNoHang() async throws {
    let container = try container(limit: 2)
    try await container.withContext { _ in
      let error = await #expect(throws: GraphError.self) { try await container.withContext { _ in } }
      #expect(error?.code == .contextBusy)
      // A child task uses another context of the pool.
      async let count = container.performBackgroundTask { try $0.count(FetchRequest("Person")) }
      let found = try await count
      #expect(found == 0)
    }
  }

  @Test func closingEndsTheTasksThatWaitAndThoseThatGoOn() async throws {
    let container = try container(limit: 1, store: .sqlite(folder.file("s.sqlite")))
    let (begun, isClosed) = (Lock(false), Lock(false))
    let first = Task.detached {
      try await container.withContext { context in
        try context.insert("Person", values: ["name": "late"])
        begun.withLock { $0 = true }
        while !isClosed.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        try context.save()
      }
    }
    while !begun.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
    let waiting = (0..<5).map { _ in Task.detached { try await container.withContext { _ in } } }
    try await Task.sleep(for: .milliseconds(20))
    try await container.close()
    isClosed.withLock { $0 = true }
    for task in waiting {
      await #expect { try await task.value } throws: { "\($0)".contains("the container was closed") }
    }
    await #expect(throws: GraphError.self) { try await first.value }
    await #expect(throws: GraphError.self) { try await container.withContext { _ in } }
    let again = try self.container(store: .sqlite(folder.file("s.sqlite")))
    #expect(try await again.withContext { try $0.count(FetchRequest("Person")) } == 0)
  }

  #if os(Linux)
    /// A thousand callers share few contexts: few connections, and little memory.
    @Test func aThousandTasksStayWithinTheReadersAndLittleMemory() async throws {
      let url = folder.file("many.sqlite")
      let container = try container(limit: 8, store: .sqlite(url))
      try await container.withContext { context in
        for number in 0..<100 { try context.insert("Person", values: ["name": .string("\(number)")]) }
        try context.save()
      }
      let idle = ProcessFigures.residentBytes
      let most = Lock((files: 0, bytes: 0))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<1000 {
          group.addTask {
            try await container.performBackgroundTask { context in
              let people = try context.fetch(FetchRequest("Person"))
              #expect(people.count >= 100)
              if number % 10 == 0 {
                try context.insert("Person", values: ["name": .string("n\(number)")])
                try context.save()
                let (files, bytes) = (ProcessFigures.openFiles(of: url), ProcessFigures.residentBytes)
                most.withLock { $0 = (max($0.files, files), max($0.bytes, bytes)) }
              }
            }
          }
        }
        try await group.waitForAll()
      }
      let (files, bytes) = most.withLock { $0 }
      // Eight readers and one writer: each has the file and its log open, and all share the log's index.
      #expect(files <= 2 * 9 + 1, "\(files) open files")
      #expect(bytes - idle < 64 << 20, "\((bytes - idle) >> 20) MiB above the idle process")
    }
  #endif
}
