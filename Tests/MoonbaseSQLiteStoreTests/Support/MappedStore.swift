import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseTestSupport

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// A store of people, pets and houses, and a mapping model to another model of them.
struct MappedStore {
  let store: MigratedStore

  /// Values stored in external files.
  private static let photo = AttributeDescription("photo", type: .binaryData).with {
    $0.allowsExternalBinaryDataStorage = true
  }

  private static func house(
    _ name: String, _ people: String, of entity: String, inverse: String
  ) -> EntityDescription {
    EntityDescription(name) {
      AttributeDescription("street", type: .string)
      RelationshipDescription.toMany(people, destination: entity, inverse: inverse)
    }
  }

  private static func animal(_ name: String, of owner: String, inverse: String) -> EntityDescription {
    EntityDescription(name) {
      AttributeDescription("name", type: .string)
      RelationshipDescription.toOne("owner", destination: owner, inverse: inverse)
    }
  }

  static let old = ManagedObjectModel {
    EntityDescription("Person") {
      AttributeDescription("first", type: .string)
      AttributeDescription("last", type: .string)
      AttributeDescription("age", type: .string)
      photo
      RelationshipDescription.toOne("home", destination: "House", inverse: "people")
      RelationshipDescription.toMany("pets", destination: "Animal", inverse: "owner")
    }
    house("House", "people", of: "Person", inverse: "home")
    animal("Animal", of: "Person", inverse: "pets")
    EntityDescription("Dog", parent: "Animal") { AttributeDescription("tricks", type: .integer16) }
    EntityDescription("Junk") { AttributeDescription("what", type: .string) }
  }

  /// First and last name are merged, ages are numbers, a house becomes an address, and animals have a table each.
  static let new = ManagedObjectModel {
    EntityDescription("Human") {
      AttributeDescription("name", type: .string).with { $0.isOptional = false }
      AttributeDescription("age", type: .integer16)
      photo
      AttributeDescription("kind", type: .string).with { $0.defaultValue = "person" }
      RelationshipDescription.toOne("address", destination: "Address", inverse: "inhabitants")
      RelationshipDescription.toMany("animals", destination: "Pet", inverse: "owner")
      RelationshipDescription.toMany("dogs", destination: "Dog", inverse: "master")
    }
    house("Address", "inhabitants", of: "Human", inverse: "address")
    animal("Pet", of: "Human", inverse: "animals")
    EntityDescription("Dog") {
      AttributeDescription("name", type: .string)
      AttributeDescription("tricks", type: .integer16)
      RelationshipDescription.toOne("master", destination: "Human", inverse: "dogs")
    }
  }

  /// The mapping, as Xcode would write it.
  static var mapping: MappingModel {
    get throws {
      var people = EntityMapping(.custom, from: "Person", to: "Human")
      people.attributeMappings = [
        PropertyMapping(
          "name",
          from: .expression(
            try Expression(
              format:
                "FUNCTION(FUNCTION($source.first, 'stringByAppendingString:', ' '), 'stringByAppendingString:', $source.last)"
            ))),
        PropertyMapping("age", from: .automatic), PropertyMapping("photo", from: .property("photo")),
        PropertyMapping("kind", from: .value("migrated")),
      ]
      people.relationshipMappings = [
        PropertyMapping("address", from: .expression(destinations("HouseToAddress", of: "home"))),
        PropertyMapping("animals", from: .expression(destinations("AnimalToPet", of: "pets"))),
      ]
      var houses = EntityMapping(.transform, from: "House", to: "Address")
      houses.attributeMappings = [PropertyMapping("street", from: .automatic)]
      var pets = EntityMapping(.transform, from: "Animal", to: "Pet")
      pets.attributeMappings = [PropertyMapping("name", from: .automatic)]
      var dogs = EntityMapping(.transform, from: "Dog", to: "Dog")
      dogs.attributeMappings = [PropertyMapping("name", from: .automatic), PropertyMapping("tricks", from: .automatic)]
      dogs.relationshipMappings = [PropertyMapping("master", from: .property("owner"))]
      return MappingModel(entityMappings: [people, houses, pets, dogs, EntityMapping(.remove, from: "Junk", to: nil)])
    }
  }

  static func destinations(_ mapping: String, of relationship: String) -> MoonbaseModel.Expression {
    .function(
      "destinationInstancesForEntityMappingNamed:sourceInstances:",
      [.variable("manager"), .constant(.string(mapping)), .keyPath(.variable("source"), [relationship])])
  }

  /// Ann has a photo in a file; she and Ben live in Elm, Cem nowhere. Ann has a cat and a dog.
  init(tracksHistory: Bool = false) throws {
    store = try MigratedStore()
    try store.fill(Self.old, tracksHistory: tracksHistory) { context in
      // Makes the keys begin above 1.
      let former = try context.insert("Person")
      try context.save()
      try context.delete(former)
      let house = try context.insert("House", values: ["street": "Elm"])
      for (first, last, age) in [("Ann", "Lee", "30"), ("Ben", "Lee", "40"), ("Cem", "Ay", "50")] {
        let person = try context.insert(
          "Person", values: ["first": .string(first), "last": .string(last), "age": .string(age)])
        if first != "Cem" { try person.setObject(house, forKey: "home") }
        guard first == "Ann" else { continue }
        try person.setValue(.data(Data(repeating: 7, count: 200_000)), forKey: "photo")
        try context.insert("Animal", values: ["name": "Tom"]).setObject(person, forKey: "owner")
        try context.insert("Dog", values: ["name": "Rex", "tricks": 3]).setObject(person, forKey: "owner")
      }
      try context.insert("Junk", values: ["what": "scrap"])
    }
  }

  @discardableResult
  func migrate(
    _ mapping: MappingModel? = nil, to model: ManagedObjectModel = Self.new,
    policies: [String: EntityMigrationPolicy] = [:], allowsLoss: Bool = false, progress: Progress? = nil
  ) throws -> MigrationPlan {
    try SQLiteStore.migrate(
      storeAt: store.url, to: model.resolved(), with: mapping ?? Self.mapping, policies: policies,
      allowsLoss: allowsLoss, progress: progress)
  }

  /// Migrates and calls `onStep` before each step.
  func migrate(_ mapping: MappingModel, onStep: @escaping (String) throws -> Void) throws {
    let model = try Self.new.resolved()
    let base = StoreMigration(
      file: StoreFile(url: store.url), sources: [], stages: [model], configuration: nil,
      progress: MigrationProgress(nil, onStep: onStep))
    _ = try MappedMigration(base: base, destination: model, mapping: { _ in mapping }, policies: [:]).run()
  }

  /// The files in the store's folder, and the external files of values.
  func everything() throws -> [String: Data] {
    var result = try store.folder.contents()
    let folder = store.folder.file(".store_SUPPORT/_EXTERNAL_DATA")
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
      result["value \(name)"] = try Data(contentsOf: folder.appendingPathComponent(name))
    }
    return result
  }
}
