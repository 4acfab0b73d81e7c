import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

import struct MoonbaseModel.SortDescriptor

/// Behaviour of managed object models according to Apple's guide. Model declarations are tested with the models, and
/// fetching IDs in the background in `BackgroundContextConcurrencyTests`.
///
/// Source: Core Data Programming Guide, Creating a Managed Object Model, and Managed Object Models.
@Suite struct ManagedObjectModelTests {
  /// Vehicles are abstract, with the subentities car and boat. Each has an owner, and a boat belongs to a harbour.
  private static func model() throws -> ManagedObjectModel {
    var vehicle = EntityDescription("Vehicle")
    vehicle.isAbstract = true
    var wheels = AttributeDescription("wheels", type: .integer16)
    (wheels.defaultValue, wheels.userInfo) = (4, ["unit": "pieces"])
    vehicle.attributes = [
      AttributeDescription("name", type: .string), wheels, AttributeDescription("label", type: .string).transient(),
    ]
    vehicle.relationships = [.toOne("owner", destination: "Person", inverse: "vehicles")]
    vehicle.userInfo = ["icon": "wheel"]
    var car = EntityDescription("Car")
    car.superentityName = "Vehicle"
    car.attributes = [AttributeDescription("doors", type: .integer16).defaulting(to: 5)]
    var boat = EntityDescription("Boat")
    boat.superentityName = "Vehicle"
    boat.userInfo = ["icon": "anchor"]
    var person = EntityDescription("Person")
    person.attributes = [AttributeDescription("name", type: .string), AttributeDescription("town", type: .string)]
    person.relationships = [.toMany("vehicles", destination: "Vehicle", inverse: "owner")]
    var neighbours = FetchedPropertyDescription(
      "neighbours",
      fetchRequest: try FetchRequest("Person", where: "town == $FETCH_SOURCE.town AND SELF != $FETCH_SOURCE"))
    neighbours.fetchRequest.sortDescriptors = [SortDescriptor("name")]
    person.fetchedProperties = [neighbours]
    var model = ManagedObjectModel(entities: [vehicle, car, boat, person])
    model.fetchRequestTemplates = [
      "named": try FetchRequest("Vehicle", where: "name == $NAME AND wheels >= $LEAST"),
      "boats": FetchRequest("Boat"),
    ]
    return model
  }

  private func bench(_ kind: StoreKind) throws -> StoreBench { try StoreBench(kind, Self.model()) }

  private func names(_ objects: [ManagedObject]) -> Set<Value> { Set(objects.map { $0["name"] }) }

  // MARK: Entities

  @Test(arguments: StoreKind.allCases) func aSubentityInheritsAttributesDefaultsAndRelationships(_ kind: StoreKind)
    throws
  {
    let bench = try bench(kind)
    let context = bench.context()
    let person = try context.insert("Person", values: ["name": "Ann"])
    let car = try context.insert("Car", values: ["name": "c"])
    #expect(car["wheels"] == 4 && car["doors"] == 5 && car["owner"] == .null)
    try car.setObject(person, forKey: "owner")
    try context.save()
    let stranger = bench.stranger()
    let read = try #require(try stranger.fetch(FetchRequest("Car")).first)
    #expect(read["name"] == "c" && read["wheels"] == 4 && read["doors"] == 5)
    #expect(try read.object(forKey: "owner")?.value(forKey: "name") == "Ann")
    #expect(throws: GraphError.self) { try context.insert("Boat", values: ["doors": 1]) }
  }

  @Test(arguments: StoreKind.allCases) func aFetchFindsSubentitiesUnlessItLeavesThemOut(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    for (entity, name) in [("Car", "c"), ("Boat", "b"), ("Boat", "d")] {
      try context.insert(entity, values: ["name": .string(name)])
    }
    for _ in 0..<2 {
      #expect(try names(context.fetch(FetchRequest("Vehicle"))) == ["b", "c", "d"])
      #expect(try names(context.fetch(FetchRequest("Boat"))) == ["b", "d"])
      #expect(try names(context.fetch(FetchRequest("Vehicle", where: "wheels == 4 AND name > 'b'"))) == ["c", "d"])
      var alone = FetchRequest("Vehicle")
      alone.includesSubentities = false
      #expect(try context.fetch(alone).isEmpty)
      try context.save()
    }
  }

  @Test(arguments: StoreKind.allCases) func anAbstractEntityHasNoObjectsOfItsOwn(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    defer { withExtendedLifetime(bench) {} }
    let context = bench.context()
    let error = #expect(throws: GraphError.self) { try context.insert("Vehicle") }
    #expect(error?.entity == "Vehicle" && error?.message == "Vehicle is abstract: insert one of its subentities")
    #expect(!context.hasChanges && context.registeredObjects.isEmpty)
    let car = try context.insert("Car")
    #expect(try context.fetch(FetchRequest("Vehicle")) == [car] && car.entity.name == "Car")
  }

  @Test(arguments: StoreKind.allCases) func aModelInUseDoesNotChange(_ kind: StoreKind) throws {
    var model = try Self.model()
    let bench = try StoreBench(kind, model)
    model.entities[1].attributes.append(AttributeDescription("colour", type: .string))
    let context = bench.context()
    let car = try context.insert("Car")
    #expect(throws: GraphError.self) { try car.setValue("red", forKey: "colour") }
    try context.save()
  }

  // MARK: Properties

  @Test(arguments: StoreKind.allCases) func aTransientAttributeIsKeptInMemoryOnly(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let car = try context.insert("Car", values: ["name": "c", "label": "here"])
    try context.save()
    #expect(car["label"] == "here" && !context.hasChanges)
    #expect(try bench.saved("Car", "label") == [.null])
  }

  @Test(arguments: StoreKind.allCases) func bothSidesOfARelationshipAreKeptInStep(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let car = try context.insert("Car")
    let first = try context.insert("Person", values: ["name": "first"])
    let second = try context.insert("Person", values: ["name": "second"])
    try car.setObject(first, forKey: "owner")
    #expect(try first.objects(forKey: "vehicles") == [car])
    try second.add(car, to: "vehicles")
    #expect(try car.object(forKey: "owner") == second)
    #expect(try first.objects(forKey: "vehicles").isEmpty)
    try second.remove(car, from: "vehicles")
    #expect(try car.object(forKey: "owner") == nil)
  }

  /// The owners of the cars after their owner is deleted with a delete rule; nil if the deletion is refused.
  private func cars(_ kind: StoreKind, after rule: DeleteRule) throws -> [Value]? {
    var model = try Self.model()
    model.entities[3].relationships[0].deleteRule = rule
    let bench = try StoreBench(kind, model)
    let context = bench.context()
    let person = try context.insert("Person", values: ["name": "Ann"])
    let car = try context.insert("Car", values: ["owner": .objectID(person.objectID)])
    try context.insert("Car", values: ["name": "of nobody"])
    try context.save()
    try context.delete(person)
    do { try context.save() } catch let error as GraphError {
      #expect(error.code == .relationshipDeniedDelete && error.property == "vehicles")
      #expect(try bench.saved("Person", "name") == ["Ann"] && car.object(forKey: "owner") == person)
      return nil
    }
    #expect(try bench.saved("Person", "name") == [])
    let stranger = bench.stranger()
    let owners = try stranger.fetch(FetchRequest("Car", where: "name == nil")).map { $0["owner"] }
    return owners.map { $0.isNull ? .null : "somebody" }
  }

  @Test(arguments: StoreKind.allCases) func aDeleteRuleSaysWhatBecomesOfTheOtherSide(_ kind: StoreKind) throws {
    #expect(try cars(kind, after: .nullify) == [.null])
    #expect(try cars(kind, after: .cascade) == [])
    #expect(try cars(kind, after: .deny) == nil)
    // With `noAction` the other side is not updated: its row still refers to the deleted object.
    #expect(try cars(kind, after: .noAction) == ["somebody"])
  }

  @Test(arguments: StoreKind.allCases) func aFetchedPropertyIsAsOneWayAsAFetch(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let people = try ["Ann", "Bob", "Cyd"].map {
      try context.insert("Person", values: ["name": .string($0), "town": $0 == "Cyd" ? "Ulm" : "Bonn"])
    }
    try context.save()
    func neighbours() throws -> [Value] { try people[0].fetchedObjects(forKey: "neighbours").map { $0["name"] } }
    #expect(try neighbours() == ["Bob"])
    // A fetched property is no value: it changes nothing, and follows the values of other objects.
    people[2]["town"] = "Bonn"
    #expect(try neighbours() == ["Bob", "Cyd"] && context.updatedObjects == [people[2]])
    #expect(throws: GraphError.self) { try people[0].setValue([], forKey: "neighbours") }
    try context.delete(people[1])
    #expect(try neighbours() == ["Cyd"])
    try context.save()
    #expect(try bench.saved("Person", "name") == ["Ann", "Cyd"])
  }

  @Test(arguments: StoreKind.allCases) func userInfoIsAtHandWhereAnObjectIs(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    defer { withExtendedLifetime(bench) {} }
    let context = bench.context()
    let (car, boat) = (try context.insert("Car"), try context.insert("Boat"))
    #expect(boat.entity.description.userInfo == ["icon": "anchor"])
    // The user info of an entity is not inherited; that of a property is inherited with the property.
    #expect(car.entity.description.userInfo == [:])
    #expect(car.entity.property("wheels")?.attribute?.userInfo == ["unit": "pieces"])
  }

  // MARK: Fetch request templates

  @Test(arguments: StoreKind.allCases) func aTemplateIsFilledWithTheValuesOfItsVariables(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    for (name, wheels) in [("a", 2), ("a", 4), ("b", 4)] {
      try context.insert("Car", values: ["name": .string(name), "wheels": .int(Int64(wheels))])
    }
    try context.insert("Boat", values: ["name": "a", "wheels": 0])
    try context.save()
    for (name, least, count) in [("a", 3, 1), ("a", 0, 3), ("b", 0, 1), ("c", 0, 0)] {
      let request = try context.fetchRequest(
        fromTemplate: "named", substituting: ["NAME": .string(name), "LEAST": .int(Int64(least))])
      #expect(try context.fetch(request).count == count, "\(name) \(least)")
    }
    // The template is unchanged, and a template without variables needs no values.
    #expect(
      context.model.description.fetchRequestTemplates["named"]?.predicate.map { "\($0)" }?.contains("$NAME") == true)
    #expect(try context.fetch(context.fetchRequest(fromTemplate: "boats")).count == 1)
    #expect { try context.fetchRequest(fromTemplate: "named", substituting: ["NAME": "a"]) } throws: {
      "\($0)".contains("no value for $LEAST")
    }
    #expect { try context.fetchRequest(fromTemplate: "nammed") } throws: { "\($0)".contains("did you mean named?") }
  }

  // MARK: Configurations

  private static let pairs: [(StoreKind, StoreKind)] = [
    (.memory, .memory), (.memory, .sqlite), (.sqlite, .memory), (.sqlite, .sqlite),
  ]

  @Test(arguments: pairs) func configurationsDivideEntitiesAmongStores(_ one: StoreKind, _ two: StoreKind) throws {
    var model = ManagedObjectModel {
      EntityDescription("Note") { AttributeDescription("text", type: .string) }
      EntityDescription("Log") { AttributeDescription("text", type: .string) }
      EntityDescription("Tag") { AttributeDescription("text", type: .string) }
    }
    // An entity may be in several configurations.
    model.configurations = ["Kept": ["Note", "Tag"], "Passing": ["Log", "Tag"]]
    let folder = try TemporaryFolder()
    let coordinator = PersistentStoreCoordinator(model: try model.resolved())
    let stores = try [(one, "Kept"), (two, "Passing")].map { kind, configuration in
      try kind.store(for: coordinator.model, configuration: configuration, in: folder)
    }
    for store in stores { try coordinator.add(store) }
    #expect(stores.map { $0.entities.map(\.name).sorted() } == [["Note", "Tag"], ["Log", "Tag"]])
    let context = try ManagedObjectContext(coordinator)
    let objects = try ["Note", "Log", "Tag", "Tag"].map { try context.insert($0, values: ["text": .string($0)]) }
    // Assigns one object to a store explicitly; otherwise the first possible store takes it.
    try context.assign(objects[3], to: stores[1])
    try context.save()
    #expect(
      objects.map(\.objectID.storeIdentifier) == [0, 1, 0, 1].map { stores[$0].identifier })
    let other = try ManagedObjectContext(coordinator)
    #expect(try ["Note", "Log", "Tag"].map { try other.count(FetchRequest($0)) } == [1, 1, 2])
    let (found, wanted) = (try other.fetchIDs(FetchRequest("Tag")), objects.suffix(2).map(\.objectID))
    #expect(Set(found) == Set(wanted))
  }
}
