import Foundation
import Moonbase
import MoonbaseModelFormats
import MoonbaseTestSupport
import Testing

/// A type of the program that the model names for an attribute.
enum SampleStatus: String, AttributeValue {
  case open, closed
  static var defaultWhenNull: SampleStatus { .closed }
}

/// A type of the program for a transformable attribute.
struct SampleColor: Codable, AttributeValue, Equatable {
  var red = 0.0
  static var defaultWhenNull: SampleColor { SampleColor() }
}

/// Uses the classes of `SwiftModelSample.swift`, which `moonbase model swift` generated.
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
            kind = { "string", one_of = { "friend", "best friend", "none" }, default = "best friend" },
            level = { "integer16", optional = false, one_of = { -1, 1, 2 }, default = 1 },
            status = { "string", swift = "SampleStatus" },
            color = { "transformable", swift = "SampleColor" },
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
    let written = try SwiftModel(Self.model().resolved(), name: "samples").text()
    let text = try Checkout.text("Tests/MoonbaseTests/SwiftModelSample.swift")
    let (lines, known) = ("// swift-format-ignore-file\n\(written)".split(separator: "\n"), text.split(separator: "\n"))
    let difference = zip(lines, known).first { $0 != $1 }
    #expect(difference == nil && lines.count == known.count, "write it anew: \(difference ?? ("", ""))")
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

  @MainActor @Test func valuesHaveTheTypesThatTheModelNames() throws {
    let context = try container().viewContext
    let ann = try context.insert(SamplePerson.self)
    #expect(ann.kind == .bestFriend && ann.level == .value1 && ann.status == nil && ann.color == nil)
    (ann.kind, ann.level, ann.status, ann.color) = (.none_, .minus1, .open, SampleColor(red: 0.25))
    try context.save()
    try context.refresh(ann, mergeChanges: false)
    #expect(ann.kind == .none_ && ann.level == .minus1 && ann.status == .open && ann.color == SampleColor(red: 0.25))
    #expect(ann["kind"] == "none" && ann["level"] == -1 && ann["status"] == "open" && ann["color"] == ["red": 0.25])
    ann.kind = nil
    #expect(ann["kind"] == .null && SamplePerson.Kind.allCases.count == 3)
  }

  /// The value stays in the store, and reading it is an error of the context.
  @MainActor @Test func aValueThatNoCaseHasStays() throws {
    let context = try container().viewContext
    let ann = try context.insert(SamplePerson.self)
    ann["status"] = "lost"
    try context.save()
    try context.refresh(ann, mergeChanges: false)
    #expect(ann.status == nil && ann["status"] == "lost")
    #expect(
      context.drainAccessorErrors().map { "\($0)" }.contains { $0.contains("status") && $0.contains("SampleStatus") })
    ann.name = "Ann"
    try context.save()
    #expect(ann["status"] == "lost")
    #expect(throws: (any Error).self) {
      ann["kind"] = "enemy"
      try context.save()
    }
  }

  @MainActor @Test func keysMakeConditionsForTheClassesBelowToo() throws {
    let context = try container().viewContext
    let people = try ["Ann", "Bob", "Abe"].enumerated().map { index, name in
      let person = try context.insert(SamplePerson.self)
      (person.name, person.legs, person.kind) = (name, Int16(index), index == 1 ? .friend : .bestFriend)
      return person
    }
    people[0].pet = people[1]
    try people[0].addToFriends(people[2])
    try context.save()
    func names(_ condition: TypedPredicate<SamplePerson>) throws -> [String] {
      try context.fetch(SamplePerson.self, where: condition, sort: [SamplePerson.name.ascending]).map(\.name)
    }
    #expect(try names(SamplePerson.legs < 2 && SamplePerson.name.beginsWith("A")) == ["Ann"])
    #expect(try names(SamplePerson.kind == .friend || SamplePerson.level == .value2) == ["Bob"])
    #expect(try names(SamplePerson.pet.name == "Bob") == ["Ann"])
    #expect(try names(SamplePerson.friends.any(\.legs > 1)) == ["Ann"])
    #expect(
      try names(SamplePerson.friends.any { $0.kind == .bestFriend } && SamplePerson.total == 1) == ["Abe", "Ann"])
    let animals = try context.fetch(SampleAnimal.self, where: SampleAnimal.legs > 1)
    #expect(animals.map(\.name) == ["Abe"])
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
