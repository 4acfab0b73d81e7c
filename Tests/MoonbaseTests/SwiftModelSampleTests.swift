import Foundation
import Moonbase
import MoonbaseModelFormats
import MoonbaseTestSupport
import Testing

/// The classes of `SwiftModelSample.swift`, which `moonbase model swift` wrote, at work.
@Suite struct SwiftModelSampleTests {
  private static let source = """
    return {
      entities = {
        SampleAnimal = {
          abstract = true,
          class = "SampleAnimal",
          attributes = {
            name = { "string", optional = false, default = "" },
            legs = { "integer16", scalar = true, default = 4 },
          },
        },
        SamplePerson = {
          parent = "SampleAnimal",
          class = "App.SamplePerson",
          user_info = { documentation = "A person of the samples." },
          attributes = {
            born = "date",
            page = "uri",
            salary = "decimal",
            total = { "integer64", derivation = "friends.@count" },
            ["default"] = { "boolean", user_info = { documentation = "A word of Swift." } },
          },
          relationships = {
            friends = { to_many = "SamplePerson", inverse = "friends" },
            pet = { to = "SampleAnimal" },
            books = { to_many = "SampleBook", ordered = true, inverse = "author" },
          },
          fetched_properties = { bipeds = { "SamplePerson", "legs == 2" } },
        },
        SampleBook = {
          attributes = { title = "string" },
          relationships = { author = { to = "SamplePerson", inverse = "books" } },
        },
      },
      fetch_requests = { named = { "SamplePerson", "name == $NAME" } },
    }
    """

  private static func model() throws -> ManagedObjectModel {
    try LuaModelFile().read(ModelSource(Data(source.utf8), name: "samples.lua"))
  }

  @Test func theFileIsWhatTheCommandWrites() throws {
    let written = try SwiftModel(Self.model().resolved(), name: "samples").text
    let text = try Checkout.text("Tests/MoonbaseTests/SwiftModelSample.swift")
    let isSame = text == "// swift-format-ignore-file\n" + written
    #expect(isSame, "write it anew: \(written.count) characters")
  }

  @MainActor private func container() throws -> PersistentContainer {
    try PersistentContainer(
      model: SamplesClasses.named(Self.model()), store: .inMemory, classes: SamplesClasses.byName)
  }

  @MainActor @Test func propertiesReadAndSetWhatTheModelSays() throws {
    let container = try container()
    let context = try container.viewContext
    let ann = try context.insert(SamplePerson.self)
    #expect(ann.name == "" && ann.legs == 4 && ann.born == nil && ann.page == nil && ann.`default` == nil)
    (ann.name, ann.legs, ann.`default`) = ("Ann", 2, true)
    ann.born = Date(timeIntervalSinceReferenceDate: 1)
    ann.page = URL(string: "https://moon.example/ann")
    ann.salary = 12.5
    try context.save()
    try context.refresh(ann, mergeChanges: false)
    #expect(ann.name == "Ann" && ann.legs == 2 && ann.`default` == true && ann.salary == 12.5)
    #expect(ann.born?.timeIntervalSinceReferenceDate == 1 && ann.page?.absoluteString == "https://moon.example/ann")
    ann.page = nil
    #expect(ann.page == nil && context.pendingErrors.isEmpty)
  }

  @MainActor @Test func relationshipsChangeByTheirMembers() throws {
    let container = try container()
    let context = try container.viewContext
    let people = try (0..<3).map { _ in try context.insert(SamplePerson.self) }
    try people[0].addToFriends(people[1...])
    try people[0].removeFromFriends(people[2])
    #expect(people[1].friends == [people[0]] && people[2].friends == [])
    let books = try (0..<4).map { _ in try context.insert(SampleBook.self) }
    try people[0].addToBooks(books[0])
    try people[0].addToBooks([books[1], books[2]])
    try people[0].insertIntoBooks(books[3], at: 0)
    try people[0].removeFromBooks(at: 1)
    #expect(people[0].books == [books[3], books[1], books[2]] && books[3].author === people[0])
    try people[0].replaceBooks(at: 0, with: books[0])
    try people[0].removeFromBooks([books[1], books[2]])
    #expect(people[0].books == [books[0]])
    people[0].pet = people[1]
    try context.save()
    #expect(people[0].pet === people[1] && people[0].total == 1)
  }

  @MainActor @Test func objectsAreFoundByTheirProperties() throws {
    let container = try container()
    let context = try container.viewContext
    for (name, legs) in [("Ann", Int16(2)), ("Bob", 3)] {
      let person = try context.insert(SamplePerson.self)
      (person.name, person.legs) = (name, legs)
    }
    try context.save()
    let found = try context.fetch(#Predicate<SamplePerson> { $0.name == "Bob" && $0.legs == 3 })
    #expect(found.map(\.name) == ["Bob"])
    #expect(try found[0].bipeds.map(\.name) == ["Ann"])
    let request = try SamplesClasses.named_(name: "Ann", in: context)
    #expect(try context.fetch(request).count == 1)
  }
}
