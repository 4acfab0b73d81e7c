import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Expression

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// Features that mapping models of released apps use, as Xcode writes them.
@Suite struct XcodeMappingTests {
  private static let old = ManagedObjectModel {
    EntityDescription("Person") {
      AttributeDescription("url", type: .uri)
      AttributeDescription("key", type: .uuid)
      RelationshipDescription.toOne("home", destination: "House", inverse: "people")
    }
    EntityDescription("House") {
      AttributeDescription("street", type: .string)
      RelationshipDescription.toMany("people", destination: "Person", inverse: "home")
      RelationshipDescription.toMany("rooms", destination: "Room", inverse: "house")
    }
    EntityDescription("Room") {
      AttributeDescription("name", type: .string)
      RelationshipDescription.toOne("house", destination: "House", inverse: "rooms")
    }
  }

  /// People have the rooms of their houses; the houses are gone.
  private static let new = ManagedObjectModel {
    EntityDescription("Person") {
      AttributeDescription("url", type: .string)
      AttributeDescription("host", type: .string)
      AttributeDescription("key", type: .string)
      AttributeDescription("length", type: .integer16)
      AttributeDescription("mark", type: .string).transient().with {
        ($0.isOptional, $0.defaultValue) = (false, "new")
      }
      RelationshipDescription.toMany("rooms", destination: "Room", inverse: "people")
    }
    EntityDescription("Room") {
      AttributeDescription("name", type: .string)
      RelationshipDescription.toMany("people", destination: "Person", inverse: "rooms")
    }
  }

  private let store: MigratedStore
  private let key = UUID()

  init() throws {
    store = try MigratedStore()
    let key = key
    try store.fill(Self.old) { context in
      let url = try #require(URL(string: "https://example.org:81/a/b.txt?x#y"))
      let house = try context.insert("House", values: ["street": "Elm"])
      for name in ["bath", "hall"] {
        try context.insert("Room", values: ["name": .string(name), "house": .objectID(house.objectID)])
      }
      let person = try context.insert("Person", values: ["url": .uri(url), "key": .uuid(key)])
      try person.setObject(house, forKey: "home")
      try context.insert("Person")
    }
  }

  private func expression(_ text: String) throws -> PropertyMapping.Source { .expression(try Expression(format: text)) }

  private func mapping(_ rooms: Expression) throws -> MappingModel {
    var people = EntityMapping(.transform, from: "Person", to: "Person")
    people.attributeMappings = [
      PropertyMapping("url", from: try expression("$source.url.absoluteString")),
      PropertyMapping("host", from: try expression("uppercase:($source.url.host)")),
      PropertyMapping("key", from: try expression("$source.key.UUIDString")),
      PropertyMapping("length", from: try expression("$source.home.street.length")),
    ]
    people.relationshipMappings = [PropertyMapping("rooms", from: .expression(rooms))]
    var rooms = EntityMapping(.transform, from: "Room", to: "Room")
    rooms.attributeMappings = [PropertyMapping("name", from: .automatic)]
    return MappingModel(entityMappings: [people, rooms, EntityMapping(.remove, from: "House", to: nil)])
  }

  private func rooms(_ function: String, _ name: String) -> Expression {
    .function(
      function, [.variable("manager"), .constant(.string(name)), .keyPath(.variable("source"), ["home", "rooms"])])
  }

  /// Xcode's "By Key Path and Mapping Name", or "By Key Path" alone.
  @Test(arguments: [
    (EntityMapping.destinationsOfMapping, "RoomToRoom"), (EntityMapping.destinationsOfRelationship, "rooms"),
  ])
  func pathsLeadThroughRelationshipsAndIntoFoundationsTypes(function: String, name: String) throws {
    try SQLiteStore.migrate(
      storeAt: store.url, to: Self.new.resolved(), with: mapping(rooms(function, name)), allowsLoss: true)
    try store.using(Self.new) { context in
      let people = try context.fetch(FetchRequest("Person")).sorted { $0.objectID.key < $1.objectID.key }
      let ann = people[0]
      #expect(ann["url"] == "https://example.org:81/a/b.txt?x#y" && ann["host"] == "EXAMPLE.ORG")
      #expect(ann["key"] == .string(key.uuidString) && ann["length"] == 3)
      #expect(try ann.objects(forKey: "rooms").compactMap { $0["name"].string }.sorted() == ["bath", "hall"])
      // A null source gives a null value, and a required transient attribute with a default is no obstacle.
      #expect(people[1]["url"].isNull && people[1]["length"].isNull)
      #expect(try people[1].objects(forKey: "rooms").isEmpty)
    }
  }

  @Test func aPropertyThatNoTypeHasIsToldBeforeAnythingIsWritten() throws {
    let before = try store.folder.contents()
    for text in ["$source.url.absoluteStrin", "$source.home.street.shout", "$source.key.host"] {
      var mapping = try mapping(rooms(EntityMapping.destinationsOfMapping, "RoomToRoom"))
      mapping.entityMappings[0].attributeMappings[0].source = try expression(text)
      let error = #expect(throws: ModelError.self) {
        try SQLiteStore.migrate(storeAt: store.url, to: Self.new.resolved(), with: mapping, allowsLoss: true)
      }
      #expect(error?.message.contains("the mapping PersonToPerson, url: ") == true, "\(error as Any)")
    }
    #expect(try store.folder.contents() == before)
  }
}
