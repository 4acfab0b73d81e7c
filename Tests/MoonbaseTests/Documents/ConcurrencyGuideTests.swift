import Moonbase
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// The code of `docs/concurrency.md`.
@MainActor @Suite struct ConcurrencyGuideTests {
  private final class Person: ManagedObject {
    static let name = Attribute<Person, String>("name")
    static let age = Attribute<Person, Int>("age")

    var name: String {
      get { self[Self.name] }
      set { self[Self.name] = newValue }
    }
  }

  private nonisolated func nameOfNextPerson() async throws -> String {
    await Task.yield()
    return "Ann"
  }

  @Test func thePageOnConcurrencyShowsThisVeryCode() async throws {
    let model = ManagedObjectModel {
      EntityDescription("Person", class: "Person") {
        AttributeDescription("name", type: .string)
        AttributeDescription("age", type: .integer16).required(default: 40)
      }
    }
    let container = try PersistentContainer(model: model, store: .inMemory, classes: ["Person": Person.self])
    let background = try container.newBackgroundContext()
    // shown
    try await background.perform { context in
      let person = try context.insert(Person.self)
      person.name = try await nameOfNextPerson()  // other closures wait meanwhile
      try context.save()
    }
    // end
    // shown
    let names = try await container.withContext { context in
      try context.fetch(Person.self, where: Person.age > 30).map(\.name)
    }
    // end
    #expect(names == ["Ann"])
    let personID = try container.viewContext.insert(Person.self).objectID
    try container.viewContext.save()
    let id = try #require(try container.viewContext.fetchIDs(FetchRequest("Person", where: "name = nil")).first)
    #expect(personID != id || !personID.isTemporaryID)
    try await transaction(in: container, id)
    #expect(try container.viewContext.count(FetchRequest("Person", where: "name = 'Ann'")) == 2)
    try container.close()
  }

  private func transaction(in container: PersistentContainer, _ personID: ManagedObjectID) async throws {
    // shown
    try await container.viewContext.transaction { context in
      let person = try context.object(with: personID)
      try person.setValue(await nameOfNextPerson(), forKey: "name")  // the view context goes on meanwhile
    }
    // end
  }
}
