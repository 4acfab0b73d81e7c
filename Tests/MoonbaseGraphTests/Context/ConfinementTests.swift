import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// The run-time check for objects used outside their executor where the compiler lets them pass, and the closing of
/// contexts.
@Suite struct ConfinementTests {
  static func coordinator() throws -> PersistentStoreCoordinator {
    let person = ManagedObjectModel { EntityDescription("Person") { AttributeDescription("age", type: .integer64) } }
    let model = try person.resolved()
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(InMemoryStore(model: model))
    return coordinator
  }

  /// Leaks an object from its context's executor by a way that the compiler would refuse without `nonisolated(unsafe)`.
  static func leaked() throws -> (BackgroundContext, ManagedObject) {
    let background = try BackgroundContext(coordinator(), name: "import")
    nonisolated(unsafe) var leaked: ManagedObject?
    try background.performAndWait { context in
      leaked = try context.insert("Person", values: ["age": 1])
      context.name = "import of people"
      try context.save()
    }
    return (background, try #require(leaked))
  }

  @Test func aUseElsewhereEndsTheProcessAndNamesTheCulprit() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      setenv("MOONBASE_CONCURRENCY_DEBUG", "1", 1)
      let (background, person) = try ConfinementTests.leaked()
      withExtendedLifetime(background) { print(person["age"]) }
    }
    let said = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(said.contains("Person x-coredata://"), "\(said)")
    #expect(said.contains("the context 'import of people' was used on"), "\(said)")
    #expect(said.contains("belongs to the background context 'import'"), "\(said)")
  }

  @Test func aContextElsewhereIsFoundToo() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      setenv("MOONBASE_CONCURRENCY_DEBUG", "1", 1)
      let (background, person) = try ConfinementTests.leaked()
      let context = try #require(person.context)
      try withExtendedLifetime(background) { print(try context.count(FetchRequest("Person"))) }
    }
    let said = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(said.contains("the context 'import of people' was used on"), "\(said)")
  }

  final class Typed: ManagedObject {
    static let key = Attribute<Typed, Int>("age")
    var age: Int { self[Self.key] }
  }

  struct Failing: Error { nonisolated(unsafe) let object: ManagedObject }  // sound: the check ends the process

  /// A lazy sequence, an `Any` and an error carry an object past the compiler.
  @Test func whatHoldsAnObjectDoesNotLeaveUnseen() async throws {
    let lazy = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      setenv("MOONBASE_CONCURRENCY_DEBUG", "1", 1)
      let background = try BackgroundContext(ConfinementTests.coordinator())
      let ages = try await background.perform { context in
        [try context.insert("Person", values: ["age": 1])].lazy.map { $0["age"] }
      }
      print(Array(ages))
    }
    let any = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      setenv("MOONBASE_CONCURRENCY_DEBUG", "1", 1)
      let background = try BackgroundContext(ConfinementTests.coordinator())
      print(try await background.perform { context in Optional(try context.insert("Person")) as Any })
    }
    let error = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      setenv("MOONBASE_CONCURRENCY_DEBUG", "1", 1)
      let background = try BackgroundContext(ConfinementTests.coordinator())
      try background.performAndWait { context in throw Failing(object: try context.insert("Person")) }
    }
    for (result, name) in [(lazy, "type LazyMap"), (any, "type Optional"), (error, "type Failing")] {
      let said = String(decoding: result.standardErrorContent, as: UTF8.self)
      #expect(said.contains(name) && said.contains("that holds Person x-coredata:"), "\(said)")
    }
  }

  /// The check accepts correct uses.
  @Test func usesOnTheExecutorAreFine() async throws {
    await #expect(processExitsWith: .success) {
      setenv("MOONBASE_CONCURRENCY_DEBUG", "1", 1)
      let background = try BackgroundContext(ConfinementTests.coordinator())
      let age = try await background.perform { context in
        let person = try context.insert("Person", values: ["age": 41])
        try context.save()
        try context.refresh(person, mergeChanges: false)
        person["age"] = 42
        try context.save()
        return person["age"]
      }
      precondition(age == 42)
      let own = try ManagedObjectContext(ConfinementTests.coordinator())
      _ = try own.insert("Person", values: ["age": 1])
      try own.save()
    }
  }

  @Test func aClosedContextHasNoObjectsAndTakesNoRequests() async throws {
    let coordinator = try Self.coordinator()
    let background = try BackgroundContext(coordinator)
    let ids = try await background.perform { context in
      let person = try context.insert("Person", values: ["age": 1])
      try context.save()
      person["age"] = 2
      try context.insert("Person")
      return [person.objectID]
    }
    try await background.close()
    try await background.perform { context in
      #expect(context.registeredObjects.isEmpty && !context.hasChanges)
      for request in [
        { _ = try context.insert("Person") }, { _ = try context.fetch(FetchRequest("Person")) },
        { _ = try context.count(FetchRequest("Person")) }, { _ = try context.object(with: ids[0]) },
        { try context.save() }, { try context.saveAhead() },
      ] as [() throws -> Void] {
        let error = #expect(throws: GraphError.self) { try request() }
        #expect(error?.code == .invalidObject && error?.message.contains("was closed") == true)
      }
    }
    // Closing discarded the unsaved objects and does not affect other contexts.
    let other = try BackgroundContext(coordinator)
    let ages = try await other.perform { context in try context.fetch(FetchRequest("Person")).map { $0["age"] } }
    #expect(ages == [1])
    // Closing twice is allowed.
    try await background.close()
  }

  @Test func aHookCannotCloseItsContext() throws {
    // `close` resets the context, which is refused within hooks.
    let context = try ManagedObjectContext(Self.coordinator())
    #expect(throws: GraphError.self) { try context.withinHook { try context.close() } }
    try context.insert("Person")
    try context.save()
  }
}
