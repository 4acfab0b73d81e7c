import Moonbase
import MoonbasePlatform
import Testing

@Suite struct ReadmeTourTests {
  /// The README's tour, compiled and run.
  @MainActor @Test func theTourRuns() async throws {
    // shown
    let model = ManagedObjectModel {
      EntityDescription("Person") {
        AttributeDescription("name", type: .string).required()
        AttributeDescription("age", type: .integer16).between(0, 150)
      }
    }
    // A store in a file: .sqlite(URL(fileURLWithPath: "people.sqlite"))
    let container = try PersistentContainer(model: model, store: .inMemory)

    // A background context lives on its own thread. Object IDs leave it; returning an object does not compile.
    let ids = try await container.newBackgroundContext().perform { context in
      try context.insert("Person", values: ["name": "Captain Scarlet", "age": 32])
      try context.insert("Person", values: ["name": "Captain Blue", "age": 28])
      try context.save()
      return try context.fetchIDs(FetchRequest("Person", where: "age BETWEEN {30, 40}"))
    }

    // The view context belongs to the main actor and makes objects of the IDs.
    for person in try container.viewContext.objects(with: ids) {
      print(person["name"])
    }
    // end
    #expect(ids.count == 1)
  }

  @Test func theReadmeShowsThisVeryTour() throws {
    let shown = try Documents.shownPieces(ofSourceAt: #filePath).map { "import Moonbase\n\n" + $0 }
    #expect(shown.count == 1)
    #expect(try Documents.swiftBlocks(of: "README.md") == shown)
  }
}
