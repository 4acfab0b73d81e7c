import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Transactions of a shared context whose bodies are suspended.
@MainActor @Suite(.timeLimit(.minutes(20))) struct AsyncTransactionTests {
  private let context: ManagedObjectContext
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    coordinator = try People.coordinator()
    context = try ManagedObjectContext(coordinator)
  }

  private struct Failure: Error {}

  private func names(saved: Bool = true) throws -> [String] {
    let context = saved ? try ManagedObjectContext(coordinator) : context
    return try context.fetch(FetchRequest("Person")).map { "\($0["firstName"])" }.sorted()
  }

  @Test func nothingOfABodyIsSeenBeforeItIsSaved() async throws {
    let id = try await context.transaction { context in
      let person = try context.insert("Person", values: ["firstName": "new"])
      await Task.yield()
      #expect(try names(saved: false).isEmpty)
      // Another task that shares the context.
      try await Task { @MainActor in
        try self.context.insert("Person", values: ["firstName": "other"])
        try self.context.save()
      }.value
      #expect(try names() == ["other"])
      try context.obtainPermanentIDs(for: [person])
      return person.objectID
    }
    #expect(try names() == ["new", "other"] && context.object(with: id)["firstName"] == "new")
    #expect(!context.hasChanges)
  }

  /// The child reads unsaved new objects by permanent IDs.
  @Test(arguments: [false, true]) func unsavedNewObjectsOfTheContextAreNoObstacle(_ isEarlier: Bool) async throws {
    if isEarlier { try context.insert("Person", values: ["firstName": "own"]) }
    try await context.transaction { context in
      try context.insert("Person", values: ["firstName": "new"])
      await Task.yield()
      if !isEarlier { try self.context.insert("Person", values: ["firstName": "own"]) }
    }
    #expect(try names() == ["new", "own"])
    #expect(!context.hasChanges)
  }

  @Test func aTransactionWithinOneReadsItsNewObjects() async throws {
    try await context.transaction { context in
      let outer = try context.insert("Person", values: ["firstName": "outer"])
      try await context.transaction { inner in
        try inner.insert("Person", values: ["firstName": "inner"])
        await Task.yield()
      }
      #expect(outer["firstName"] == "outer")
    }
    #expect(try names() == ["inner", "outer"])
  }

  @Test func aBodyThatFailsLeavesNothingAndTakesNothingOfOthers() async throws {
    let person = try context.insert("Person", values: ["firstName": "before"])
    try context.save()
    try person.setValue("unsaved", forKey: "firstName")
    await #expect(throws: Failure.self) {
      try await context.transaction { context in
        try context.object(with: person.objectID).setValue(7, forKey: "age")
        try context.insert("Person", values: ["firstName": "gone"])
        await Task.yield()
        try self.context.insert("Person", values: ["firstName": "of others"])
        throw Failure()
      }
    }
    #expect(person["age"] == 0 && person["firstName"] == "unsaved")
    #expect(try names() == ["before"] && names(saved: false) == ["of others", "unsaved"])
  }

  @Test func aSaveThatFailsLeavesNothingOfTheBody() async throws {
    let person = try context.insert("Person", values: ["firstName": "before", "age": 3])
    try context.save()
    try person.setValue("unsaved", forKey: "firstName")
    await #expect(throws: GraphError.self) {
      try await context.transaction { context in
        await Task.yield()
        try context.object(with: person.objectID).setValue(1000, forKey: "age")
      }
    }
    #expect(person["age"] == 3 && person["firstName"] == "unsaved" && context.hasChanges)
    try context.save()
    #expect(try names() == ["unsaved"])
  }

  @Test func whatBothChangedIsAConflictAndNotLost() async throws {
    let person = try context.insert("Person", values: ["firstName": "before"])
    try context.save()
    let error = await #expect(throws: GraphError.self) {
      try await context.transaction { context in
        try context.object(with: person.objectID).setValue("of the body", forKey: "firstName")
        await Task.yield()
        try person.setValue("of another task", forKey: "firstName")
        try self.context.save()
      }
    }
    #expect(error?.code == .mergeConflict, "\(String(describing: error))")
    #expect(try names() == ["of another task"])
    #expect(person["firstName"] == "of another task" && !context.hasChanges)
  }

  /// Another task changes a different attribute, saved or not.
  @Test(arguments: [false, true]) func changesOfDifferentAttributesAreMerged(_ isSaved: Bool) async throws {
    let person = try context.insert("Person", values: ["firstName": "before", "lastName": "before"])
    try context.save()
    try await context.transaction { context in
      try context.object(with: person.objectID).setValue("of the body", forKey: "firstName")
      await Task.yield()
      try person.setValue("of another task", forKey: "lastName")
      if isSaved { try self.context.save() }
    }
    #expect(person["firstName"] == "of the body" && person["lastName"] == "of another task" && !context.hasChanges)
    let other = try ManagedObjectContext(coordinator)
    let stored = try other.object(with: person.objectID)
    #expect(stored["firstName"] == "of the body" && stored["lastName"] == "of another task")
  }

  /// The body deletes an object that another task changes afterwards. Whether the body had read the object does not
  /// matter.
  @Test(arguments: [false, true], [false, true])
  func anEditIsNotLostToADeletion(_ isSaved: Bool, _ isRead: Bool) async throws {
    let person = try context.insert("Person", values: ["firstName": "before"])
    try context.save()
    let id = person.objectID
    try context.reset()
    let error = await #expect(throws: GraphError.self) {
      try await context.transaction { context in
        let object = try context.object(with: id)
        if isRead { #expect(object["firstName"] == "before") }
        try context.delete(object)
        await Task.yield()
        try self.context.object(with: id).setValue("of another task", forKey: "firstName")
        if isSaved { try self.context.save() }
      }
    }
    #expect(error?.code == .mergeConflict, "\(String(describing: error))")
    #expect(try context.object(with: id)["firstName"] == "of another task")
  }

  @Test func severalTransactionsMayBeUnderWay() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask { try await insert("\(number)") }
      }
      try await group.waitForAll()
    }
    #expect(try names().count == 20)
  }

  private func insert(_ name: String) async throws {
    try await context.transaction { context in
      try context.insert("Person", values: ["firstName": .string(name)])
      await Task.yield()
    }
  }

  @Test func aBodyDoesNotSaveAndAClosedContextBeginsNone() async throws {
    await #expect { try await context.transaction { try $0.save() } } throws: { "\($0)".contains("must not save") }
    try context.close()
    await #expect(throws: GraphError.self) { try await context.transaction { _ in } }
  }
}
