import Moonbase
import MoonbaseGraph
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

import struct MoonbaseModel.SortDescriptor

/// Containers that are closed or released while other code still uses their parts.
@MainActor @Suite(.timeLimit(.minutes(20))) struct ContainerLifetimeTests {
  private static var model: ManagedObjectModel {
    ManagedObjectModel { EntityDescription("P") { AttributeDescription("name", type: .string) } }
  }

  private final class WeakContext { weak var context: ManagedObjectContext? }

  /// Objects of a view context whose container only a task of another thread retains.
  private func objectsOfAReleasedContainer(_ watch: WeakContext) throws -> ([ManagedObject], Task<Void, any Error>) {
    let container = try PersistentContainer(model: Self.model, store: .inMemory)
    let context = try container.viewContext
    watch.context = context
    let people = try (0..<20).map { try context.insert("P", values: ["name": .string("n\($0)")]) }
    let task = Task.detached { try await container.withContext { _ = try $0.count(FetchRequest("P")) } }
    return (people, task)
  }

  @Test func anotherThreadMayReleaseTheContainer() async throws {
    for _ in 0..<30 {
      let watch = WeakContext()
      var (people, task) = try objectsOfAReleasedContainer(watch)
      for _ in 0..<50 {
        for person in people {
          person["name"] = "x"
          _ = person["name"]
        }
      }
      try await task.value
      people = []
      let end = ContinuousClock.now + .seconds(20)
      while watch.context != nil, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(1)) }
      #expect(watch.context == nil)
    }
  }

  @Test func aFunctionOfABatchUpdateDoesNotCloseTheContainer() throws {
    let folder = try TemporaryFolder()
    let container = try PersistentContainer(model: Self.model, store: .sqlite(folder.file("s.sqlite")))
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    try context.insert("P", values: ["name": "a"])
    try context.save()
    let refusals = Lock<[GraphError]>([])
    var request = BatchUpdateRequest("P")
    request.functionsToUpdate["name"] = BatchUpdateFunction { value in
      MainActor.assumeIsolated {
        do { try container.close() } catch let error as GraphError {
          refusals.withLock { $0.append(error) }
        } catch { Issue.record(error) }
      }
      return value
    }
    #expect(throws: GraphError.self) { try context.execute(request) }
    let codes = refusals.withLock { $0.map(\.code) }
    #expect(!codes.isEmpty && codes.allSatisfy { $0 == .contextBusy })
    #expect(try context.count(FetchRequest("P")) == 1)
    try container.close()
  }

  @Test func aHandlerOfABatchInsertDoesNotCloseTheContainer() throws {
    let folder = try TemporaryFolder()
    let container = try PersistentContainer(model: Self.model, store: .sqlite(folder.file("s.sqlite")))
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    let request = BatchInsertRequest(
      "P",
      dictionaryHandler: { (values: inout [String: Value]) in
        try MainActor.assumeIsolated { try container.close() }
        return true
      })
    let error = #expect(throws: GraphError.self) { try context.execute(request) }
    #expect(error?.message.contains("a container was closed by the handler of a batch insert") == true)
    #expect(try context.count(FetchRequest("P")) == 0)
    try container.close()
  }

  @Test func contextsOfAClosedContainerSaySo() async throws {
    let container = try PersistentContainer(model: Self.model, store: .inMemory)
    let background = try container.newBackgroundContext()
    try container.close()
    await #expect { try await background.perform { try $0.count(FetchRequest("P")) } } throws: {
      ($0 as? GraphError)?.code == .containerClosed
    }
    await #expect {
      try await background.perform { context in
        try context.insert("P", values: ["name": "a"])
        try context.save()
      }
    } throws: { ($0 as? GraphError)?.code == .containerClosed }
  }

  /// A statement that another thread still has keeps its file open, and closing waits for it.
  @Test func theFilesAreClosedWhenCloseReturns() async throws {
    let folder = try TemporaryFolder()
    let url = folder.file("s.sqlite")
    for _ in 0..<10 {
      let container = try PersistentContainer(model: Self.model, store: .sqlite(url))
      try container.viewContext.insert("P", values: ["name": "a"])
      try container.viewContext.save()
      let tasks = (0..<30).map { _ in
        Task.detached { try await container.withContext { _ = try $0.fetch(FetchRequest("P")) } }
      }
      try await Task.sleep(for: .milliseconds(2))
      try container.close()
      try SQLiteStore.destroy(storeAt: url)
      for task in tasks { _ = await task.result }
    }
  }

  /// A store that is opened while the container closes is closed too.
  @Test func loadingBesideClosingLeavesNoOpenStore() async throws {
    let folder = try TemporaryFolder()
    for round in 0..<20 {
      let urls = (0..<3).map { folder.file("\(round)-\($0).sqlite") }
      let description = ContainerDescription(model: .value(Self.model), stores: urls.map { .sqlite($0) })
      let container = try PersistentContainer(description, loadsStores: false)
      let task = Task.detached { container.loadPersistentStores { _, _ in } }
      try await Task.sleep(for: .microseconds(200 * round))
      try container.close()
      await task.value
      #expect(container.coordinator.persistentStores.isEmpty)
      for url in urls { try SQLiteStore.destroy(storeAt: url) }
    }
  }

  /// Closing is no change: lists and observers are not called, and no object is read again.
  @Test func closingCallsNoListAndNoObserver() throws {
    let container = try PersistentContainer(model: Self.model, store: .inMemory)
    let context = try container.viewContext
    try context.insert("P", values: ["name": "a"])
    try context.save()
    var request = FetchRequest("P")
    request.sortDescriptors = [SortDescriptor("name")]
    let list = try FetchedResultsController<ManagedObject>(request, in: context)
    try list.performFetch()
    let calls = Lock<[String]>([])
    list.didChangeContent = { _ in calls.withLock { $0.append("list") } }
    let observation = context.observeChanges { _ in calls.withLock { $0.append("observer") } }
    try container.close()
    #expect(calls.withLock { $0 }.isEmpty && context.registeredObjects.isEmpty)
    withExtendedLifetime(observation) {}
  }

  @Test func aClassThatNoEntityHasIsRefused() throws {
    final class Thing: ManagedObject {}
    let model = ManagedObjectModel {
      EntityDescription("P", class: "Item") { AttributeDescription("name", type: .string) }
    }
    let error = #expect(throws: GraphError.self) {
      _ = try PersistentContainer(model: model, store: .inMemory, classes: ["Itm": Thing.self])
    }
    #expect(
      error?.code == .unknownName && error?.message.contains("did you mean Item?") == true,
      "\(String(describing: error))")
    _ = try PersistentContainer(model: model, store: .inMemory, classes: ["Item": Thing.self])
  }

  /// The message of a validation method in Swift is shown to users, as the message of a rule in Lua.
  @Test func theSentenceOfAValidationMethodIsShown() throws {
    final class Loan: ManagedObject {
      override func validateForInsert() throws {
        try super.validateForInsert()
        throw GraphError(.validation, message: "a loan has 30 days at most")
      }
    }
    let model = ManagedObjectModel {
      EntityDescription("Loan", class: "Loan") { AttributeDescription("state", type: .string).oneOf(["new", "old"]) }
    }
    let context = try PersistentContainer(model: model, store: .inMemory, classes: ["Loan": Loan.self]).viewContext
    try context.insert("Loan", values: ["state": "new"])
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(
      error?.userMessages.map(\.text) == ["A loan has 30 days at most."], "\(String(describing: error?.userMessages))")
  }

  @Test func everyCallOfAClosedContextThrows() throws {
    let container = try PersistentContainer(model: Self.model, store: .inMemory)
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    context.undoManager = UndoManager()
    let person = try context.insert("P", values: ["name": "a"])
    try context.save()
    let saved = SavedObjectIDs(inserted: [], updated: [person.objectID], deleted: [])
    try context.close()
    let calls: [(String, () throws -> Void)] = [
      ("reset", context.reset), ("rollback", context.rollback), ("undo", context.undo), ("redo", context.redo),
      ("refreshAllObjects", context.refreshAllObjects), ("processPendingChanges", context.processPendingChanges),
      ("reloadExtensions", context.reloadExtensions), ("save", context.save),
      ("mergeChanges", { try context.mergeChanges(from: saved) }),
    ]
    for (name, call) in calls {
      let error = #expect(throws: GraphError.self, "\(name)", performing: call)
      #expect(error?.code == .invalidObject, "\(name)")
    }
    #expect(throws: Never.self) { try context.close() }
  }

  @Test(arguments: [false, true]) func sequencesOfReloadsEndWithTheContainer(_ isReleased: Bool) async throws {
    var container: PersistentContainer? = try PersistentContainer(model: Self.model, store: .inMemory)
    let reloads = try #require(container?.extensions.reloads)
    if !isReleased { try container?.close() }
    container = nil
    var count = 0
    for await _ in reloads { count += 1 }
    #expect(count == 0)
  }

  @Test func extremeDurationsAndLimitsAreClamped() throws {
    let folder = try TemporaryFolder()
    var store = PersistentStoreDescription.sqlite(folder.file("s.sqlite"))
    store.readerLimit = .max
    let container = try PersistentContainer(model: Self.model, store: store)
    #expect(try container.viewContext.fetchedObjects(FetchRequest("P")).isEmpty)
    for duration in [Duration.seconds(Int64.max), .seconds(-1), .zero, .nanoseconds(1)] {
      container.watchExtensions(every: duration).cancel()
    }
    try container.close()
  }

  @Test func exactNumbersOfCodableValuesStayExact() throws {
    struct Money: Codable, Equatable {
      var amount: Decimal
      var count: UInt64
      var day: Date
    }
    let digits = ["12345678901234567890.12", "0.1", "-7", "1.234567890123456789012", "1e30"]
    for text in digits {
      let money = Money(
        amount: try #require(Decimal(string: text)), count: .max, day: Date(timeIntervalSinceReferenceDate: 0.5))
      let coded = try CodedValue(money)
      #expect(try CodedValue<Money>(coded.attributeValue).content == money, "\(text)")
    }
    let day = Date(timeIntervalSinceReferenceDate: 0.5)
    let tree: Value = .map(["amount": .decimal(7), "count": .int(1), "day": .date(day)])
    #expect(try CodedValue<Money>(tree).content == Money(amount: 7, count: 1, day: day))
    #expect(try CodedValue(0.1).attributeValue == .double(0.1))
  }
}
