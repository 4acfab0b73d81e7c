import Moonbase
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Closing containers and contexts: while they are in use, twice, in any order. Later operations throw errors and never
/// trap.
@MainActor @Suite struct ClosingTests {
  private static let model = ManagedObjectModel(entities: [
    {
      var person = EntityDescription("P")
      person.attributes = [AttributeDescription("s", type: .string)]
      person.relationships = [
        .toOne("q", destination: "P", inverse: "qs"),
        .toMany("qs", destination: "P", inverse: "q"),
      ]
      return person
    }()
  ])

  private static let text = """
    return { name = "e", entities = { P = {
      derived = { label = { type = "string", inputs = { "s" }, get = function(s) return (s or "") .. "!" end } },
      methods = { twice = function(p) return p.s .. p.s end },
      will_save = function(p) local _ = p.label end,
      validate = { s = function(s) return s ~= "bad", "is bad" end },
    } } }
    """

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func container(_ isInFile: Bool, swift: [ExtensionSource] = []) throws -> PersistentContainer {
    try PersistentContainer(
      model: Self.model, store: isInFile ? .sqlite(folder.file()) : .inMemory,
      extensions: [.text(Self.text, name: "e.lua")] + swift)
  }

  private func context(of container: PersistentContainer) throws -> ManagedObjectContext {
    try ManagedObjectContext(container.coordinator, extensions: container.extensions)
  }

  /// Calls every operation of a context and an object. None of them may trap.
  private func askEverything(of context: ManagedObjectContext, _ object: ManagedObject) {
    let requests: [() throws -> Void] = [
      { try context.save() }, { try context.saveAhead() }, { try context.finishSave() },
      { try context.processPendingChanges() }, { try context.rollback() }, { try context.reset() },
      { try context.close() }, { try context.refreshAllObjects() },
      { _ = try context.insert("P", values: ["s": "x"]) }, { try context.delete(object) },
      { try context.refresh(object, mergeChanges: true) }, { try context.refresh(object, mergeChanges: false) },
      { _ = try context.fetch(FetchRequest("P")) }, { _ = try context.count(FetchRequest("P")) },
      { _ = try context.fetchIDs(FetchRequest("P")) },
      { _ = try context.fetchedObjects(FetchRequest("P")).map { $0["s"] } },
      { _ = try context.explain(FetchRequest("P")) }, { _ = try context.object(with: object.objectID)["s"] },
      { try context.transaction { try object.setValue("y", forKey: "s") } },
      { _ = try context.detectConflicts(for: object) },
      { _ = try object.value(forKey: "label") }, { _ = try object.value(forKey: "qs") },
      { try object.setValue("z", forKey: "s") }, { _ = try object.call("twice") },
      { try object.validate("bad", forKey: "s") },
      { try object.setValue(.list([.objectID(object.objectID)]), forKey: "qs") },
      { _ = object["s"] }, { object["s"] = "w" }, { _ = "\(object)" },
      { _ = try object.observe("s") { _ in } },
      { _ = try ManagedObjectContext(parent: context).count(FetchRequest("P")) },
      { _ = context.observeChanges { _ in } }, { context.undoManager = UndoManager() },
      { try context.undoManager?.undo() },
      { _ = context.insertedObjects + context.updatedObjects + context.deletedObjects },
      { _ = context.registeredObjects }, { _ = context.hasChanges },
      { context.automaticallyMergesChangesFromParent.toggle() }, { _ = context.drainAccessorErrors() },
    ]
    for request in requests { try? request() }
  }

  @Test(arguments: [false, true]) func aClosedContextAnswersWithErrors(_ isInFile: Bool) throws {
    let context = try context(of: container(isInFile))
    let object = try context.insert("P", values: ["s": "a"])
    try context.save()
    let walk = try context.fetchedObjects(FetchRequest("P"))
    let child = ManagedObjectContext(parent: context)
    let below = try child.object(with: object.objectID)
    _ = below["s"]
    try context.close()
    try context.close()
    #expect { try context.fetch(FetchRequest("P")) } throws: { "\($0)".contains("the context was closed") }
    #expect(throws: GraphError.self) { try context.save() }
    #expect(throws: GraphError.self) { try context.insert("P") }
    #expect(throws: GraphError.self) { try object.value(forKey: "label") }
    #expect(throws: GraphError.self) { try child.fetch(FetchRequest("P")) }
    for element in walk { _ = element["s"] }
    askEverything(of: context, object)
    askEverything(of: child, below)
  }

  /// A context in the middle of an operation stays open, and `close` throws with the reason.
  @Test func aContextIsNotClosedInTheMiddleOfSomething() throws {
    let tries = Lock<[String]>([])
    func trying(_ context: ManagedObjectContext) {
      do { try context.close() } catch { tries.withLock { $0.append("\(error)") } }
    }
    let hook = ExtensionSource.entity("P") {
      var person = EntityExtension()
      person.willSave = { object in
        if let context = object.managedObjectContext {
          do { try context.close() } catch { tries.withLock { $0.append("\(error)") } }
        }
      }
      return person
    }
    let context = try context(of: container(false, swift: [hook]))
    let object = try context.insert("P", values: ["s": "a"])
    try context.save()
    try context.transaction {
      trying(context)
      try object.setValue("b", forKey: "s")
    }
    let told = tries.withLock { $0 }
    #expect(
      told.count == 3 && told.allSatisfy { $0.contains("while the same context saves") || $0.contains("transaction") })
    #expect(try context.count(FetchRequest("P", where: "s == 'b'")) == 1)
  }

  @Test func anObserverAndAWalkMayCloseTheirContext() throws {
    let context = try context(of: container(true))
    for name in ["a", "b", "c"] { try context.insert("P", values: ["s": .string(name)]) }
    try context.save()
    let object = try context.fetch(FetchRequest("P"))[0]
    let observation = try object.observe("s") { _ in try? context.close() }
    try object.setValue("x", forKey: "s")
    askEverything(of: context, object)
    withExtendedLifetime(observation) {}
    let other = try self.context(of: PersistentContainer(model: Self.model, store: .sqlite(folder.file())))
    var count = 0
    for element in try other.fetchedObjects(FetchRequest("P")) {
      count += 1
      _ = element["s"]
      try other.close()
    }
    #expect(count >= 1)
  }

  @Test(arguments: [false, true]) func aClosedContainerAnswersWithErrors(_ isInFile: Bool) async throws {
    let container = try container(isInFile)
    let view = try container.viewContext
    let object = try view.insert("P", values: ["s": "a"])
    try view.save()
    let background = try container.newBackgroundContext()
    try await background.perform { context in
      try context.insert("P", values: ["s": "b"])
      try context.save()
    }
    let watch = container.watchExtensions()
    try container.close()
    try container.close()
    watch.cancel()
    let error = #expect(throws: GraphError.self) { try container.viewContext }
    #expect(error?.code == .containerClosed && error?.message.contains("the container was closed") == true)
    #expect(error?.userMessage == "The program is ending. Try again later.")
    #expect(throws: GraphError.self) { try container.newBackgroundContext() }
    var failures = 0
    container.loadPersistentStores { _, error in failures += error == nil ? 0 : 1 }
    #expect(failures == 1)
    #expect(throws: GraphError.self) { try view.fetch(FetchRequest("P")) }
    askEverything(of: view, object)
    _ = try? container.reloadExtensions()
    // A remaining context of another thread finds no store.
    await #expect(throws: GraphError.self) {
      try await background.perform { context in
        try context.insert("P", values: ["s": "c"])
        try context.save()
      }
    }
    try await background.close()
    try await background.close()
    await #expect(throws: GraphError.self) { try await background.perform { try $0.count(FetchRequest("P")) } }
    if isInFile {
      let again = try self.container(true)
      #expect(try await again.performBackgroundTask { try $0.count(FetchRequest("P")) } == 2)
    }
  }

  #if os(Linux)
    /// During saves, fetches and walks of many contexts: each operation succeeds or throws, and no file stays open.
    @Test func closingEndsTheWorkOfManyContexts() async throws {
      let url = folder.file("busy.sqlite")
      let container = try PersistentContainer(model: Self.model, store: .sqlite(url))
      let saved = Lock(Set<String>())
      let background = try (0..<100).map { _ in try container.newBackgroundContext() }
      try await background[0].perform { context in
        for number in 0..<5000 { try context.insert("P", values: ["s": .string("first \(number)")]) }
        try context.save()
      }
      let started = Lock(0)
      let tasks = background.enumerated().map { number, context in
        Task.detached {
          try await context.perform { context in
            var walk: FetchedObjects?
            started.withLock { $0 += 1 }
            for round in 0... {
              let name = "\(number) \(round)"
              walk = try context.fetchedObjects(FetchRequest("P"))
              _ = try context.fetch(FetchRequest("P", where: "s ENDSWITH %@", "\(round)"))
              try context.insert("P", values: ["s": .string(name)])
              try context.save()
              saved.withLock { _ = $0.insert(name) }
              await Task.yield()
            }
            withExtendedLifetime(walk) {}
          }
        }
      }
      while started.withLock({ $0 }) < tasks.count || saved.withLock({ $0.count }) < 50 {
        try await Task.sleep(for: .milliseconds(1))
      }
      let time = try ContinuousClock().measure { try container.close() }
      // A walk that another thread is ending may keep its file open for a moment.
      for _ in 0..<500 where ProcessFigures.openFiles(of: url) > 0 { try await Task.sleep(for: .milliseconds(10)) }
      #expect(ProcessFigures.openFiles(of: url) == 0)
      print("closing with 100 busy contexts took \(time)")
      for task in tasks { await #expect(throws: GraphError.self) { try await task.value } }
      // The acknowledged saves are in the file, and no others.
      let again = try PersistentContainer(model: Self.model, store: .sqlite(url))
      let names = try await again.withContext { context in
        try context.fetch(FetchRequest("P", where: "NOT s BEGINSWITH 'first'")).compactMap { $0["s"].string }
      }
      #expect(Set(names) == saved.withLock { $0 } && names.count == saved.withLock { $0.count })
    }
  #endif

  @Test func aContainerIsNotClosedInAHookOfItsViewContext() throws {
    let container = Lock<PersistentContainer?>(nil)
    let told = Lock<[String]>([])
    let hook = ExtensionSource.entity("P") {
      var person = EntityExtension()
      person.willSave = { _ in
        MainActor.assumeIsolated {
          do { try container.withLock { $0 }?.close() } catch { told.withLock { $0.append("\(error)") } }
        }
      }
      return person
    }
    let made = try self.container(false, swift: [hook])
    container.withLock { $0 = made }
    let context = try made.viewContext
    try context.insert("P", values: ["s": "a"])
    try context.save()
    #expect(told.withLock { $0 }.count == 1)
    #expect(try made.viewContext.count(FetchRequest("P")) == 1)
    container.withLock { $0 = nil }
  }

  /// The Lua states, stores and contexts of a container are released with the last of them, in any order.
  @Test(arguments: [0, 1, 2]) func whatOutlivesItsContainerWorksOn(_ order: Int) throws {
    weak var gone: PersistentStoreCoordinator?
    try {
      var container: PersistentContainer? = try container(true)
      gone = container?.coordinator
      var context: ManagedObjectContext? = try container.map { try self.context(of: $0) }
      var object = try context?.insert("P", values: ["s": "a"])
      try context?.save()
      switch order {
      case 0:
        container = nil
        #expect(object?["label"] == "a!")
        #expect(try context?.count(FetchRequest("P")) == 1)
        context = nil
        #expect(throws: GraphError.self) { try object?.value(forKey: "label") }
      case 1:
        context = nil
        container = nil
        #expect(throws: GraphError.self) { try object?.setValue("b", forKey: "s") }
      default:
        object = nil
        container = nil
        context = nil
      }
    }()
    #expect(gone == nil)
  }

  @Test func aWatchMayBeEndedByItsOwnHandler() throws {
    let file = folder.file("w.lua")
    try Data(Self.text.utf8).write(to: file)
    let container = try PersistentContainer(model: Self.model, store: .inMemory, extensions: [.file(file)])
    let watch = Lock<ExtensionWatch?>(nil)
    let ended = DispatchSemaphore(value: 0)
    let made = container.watchExtensions(settling: .milliseconds(5)) { _ in
      watch.withLock { $0 }?.cancel()
      watch.withLock { $0 = nil }
      ended.signal()
    }
    watch.withLock { $0 = made }
    try Data((Self.text + " ").utf8).write(to: file)
    #expect(ended.wait(timeout: .now() + 20) == .success)
  }
}
