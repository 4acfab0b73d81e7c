import Moonbase
import MoonbasePlatform
import Testing

@Suite struct ReadmeTourTests {
  /// The tour as it stands in the README, compiled and run.
  @MainActor @Test func theTourRuns() async throws {
    // tour
    let model = ManagedObjectModel {
      EntityDescription("Person") {
        AttributeDescription("name", .string).required()
        AttributeDescription("age", .integer16).between(0, 150)
      }
    }
    // A store that stays: .sqlite(URL(fileURLWithPath: "people.sqlite"))
    let container = try PersistentContainer(model: model, store: .inMemory)

    // A background context lives on its own thread. Object IDs leave it; returning an object does not compile.
    let ids = try await container.newBackgroundContext().perform { context in
      try context.insert("Person", ["name": "Captain Scarlet", "age": 32])
      try context.insert("Person", ["name": "Captain Blue", "age": 28])
      try context.save()
      return try context.fetchIDs(FetchRequest("Person", where: "age BETWEEN {30, 40}"))
    }

    // The view context belongs to the main actor and makes objects of the IDs.
    for person in try container.viewContext.objects(with: ids) {
      print(person["name"])
    }
    // end of tour
    #expect(ids.count == 1)
  }

  @Test func theReadmeShowsThisVeryTour() throws {
    let file = URL(fileURLWithPath: #filePath)
    let checkout = (1...4).reduce(file) { url, _ in url.deletingLastPathComponent() }
    let readme = try String(contentsOf: checkout.appendingPathComponent("README.md"), encoding: .utf8)
    let source = try String(contentsOf: file, encoding: .utf8)
    let shown = try #require(readme.firstMatch(of: #/```swift\nimport Moonbase\n\n([\s\S]*?)```/#)).output.1
    let run = try #require(source.firstMatch(of: #/    // tour\n([\s\S]*?)    // end of tour/#)).output.1
    let lines = run.split(separator: "\n", omittingEmptySubsequences: false).map {
      $0.hasPrefix("    ") ? $0.dropFirst(4) : $0
    }
    #expect(lines.joined(separator: "\n") == shown)
  }
}
