import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore

/// A migration with a mapping model that stops early leaves the store unchanged; a mapping that cannot be run is
/// reported before anything is written.
@Suite struct MappedMigrationFailureTests {
  private struct Stop: Error {}

  private let world: MappedStore
  private let before: [String: Data]

  init() throws {
    world = try MappedStore()
    before = try world.everything()
  }

  private func mapping(_ change: (inout MappingModel) -> Void) throws -> MappingModel {
    var mapping = try MappedStore.mapping
    change(&mapping)
    return mapping
  }

  @Test func eachStepMayFail() throws {
    var steps: [String] = []
    for failing in 0... {
      var count = 0
      steps = []
      do {
        try world.migrate(MappedStore.mapping) { step in
          if count == failing { throw Stop() }
          count += 1
          steps.append(step)
        }
        break
      } catch is Stop {
        #expect(try world.everything() == before, "at step \(steps.count)")
      }
    }
    #expect(steps.prefix(3) == ["copy", "tables", "instances of PersonToHuman"] && steps.last == "swap", "\(steps)")
    #expect(steps.contains("relationships of DogToDog") && steps.contains("validation of Dog"))
  }

  @Test func aConstantThatNeverFitsIsToldBeforeAnythingIsWritten() throws {
    for value in [Value.string("x"), .double(1.5), .bool(true)] {
      let mapping = try mapping {
        $0.entityMappings[0].attributeMappings[1] = PropertyMapping("age", from: .expression(.constant(value)))
      }
      #expect { try world.migrate(mapping, allowsLoss: true) } throws: {
        "\($0)".contains("PersonToHuman") && "\($0)".contains("takes an Integer") && !"\($0)".contains("row")
      }
    }
    #expect(try world.everything() == before)
  }

  @Test func anExpressionWhoseValueDoesNotFitNamesMappingAndRow() throws {
    let mapping = try mapping {
      // An object cannot become a number.
      $0.entityMappings[0].attributeMappings[1] = PropertyMapping(
        "age", from: .expression(.keyPath(.variable("source"), ["home"])))
    }
    let error = #expect(throws: (any Error).self) { try world.migrate(mapping, allowsLoss: true) }
    let text = "\(try #require(error))"
    #expect(text.contains("PersonToHuman, row 2 of Person"), "\(text)")
    #expect(try world.everything() == before)
  }

  @Test func aValueThatTheNewTypeCannotKeepNamesMappingAndRow() throws {
    try RawDatabase(world.store.url).connection.execute("UPDATE ZPERSON SET ZAGE = 'old' WHERE Z_PK = 3")
    let before = try world.everything()
    let error = #expect(throws: GraphError.self) { try world.migrate() }
    #expect(error?.code == .invalidValue && error?.property == "age")
    #expect(
      error?.message
        == "PersonToHuman, row 3 of Person: age holds what integer16 cannot keep: map it by an expression or a policy")
    #expect(try world.everything() == before)
  }

  @Test func aRuleOfTheNewModelNamesTheRow() throws {
    let strict = MappedStore.new.changed { $0[entity: "Human"].attributes[1].validation.minimum = 35 }
    let error = #expect(throws: GraphError.self) { try world.migrate(to: strict) }
    #expect(error?.code == .numberTooSmall && error?.message.hasPrefix("Human, row 2: ") == true, "\(error as Any)")
    #expect(try world.everything() == before)
  }

  @Test func aValueThatMustBeUniqueIsTold() throws {
    let unique = MappedStore.new.changed { $0[entity: "Human"].uniquenessConstraints = [["kind"]] }
    let error = #expect(throws: GraphError.self) { try world.migrate(to: unique) }
    #expect(error?.code == .constraintConflict)
    #expect(
      error?.details.map(\.message) == [
        "Human.kind: 3 rows have what others have too, as \"migrated\" (the first is row 2), and it must be unique"
      ])
    // The type of a computed value is known only when the value is computed.
    let same = try mapping {
      $0.entityMappings[0].attributeMappings[0].source = .expression(.keyPath(.variable("source"), ["last"]))
    }
    let names = MappedStore.new.changed { $0[entity: "Human"].uniquenessConstraints = [["name"]] }
    let late = #expect(throws: GraphError.self) { try world.migrate(same, to: names, allowsLoss: true) }
    #expect(late?.code == .constraintConflict && late?.message.contains("has the same name") == true, "\(late as Any)")
    #expect(late?.message.contains(".migration") == false)
    #expect(try world.everything() == before)
  }

  @Test(arguments: [
    (
      PropertyMapping("nam", from: .automatic),
      "the mapping PersonToHuman, nam: Human has no property nam; did you mean name?"
    ),
    (
      PropertyMapping("name", from: .property("frist")),
      "the mapping PersonToHuman, name: Person has no property frist; did you mean first?"
    ),
    (
      PropertyMapping("name", from: .property("home")),
      "the mapping PersonToHuman, name: home is a relationship, and this an attribute"
    ),
    (
      PropertyMapping("age", from: .property("photo")),
      "the mapping PersonToHuman, age: no value of type binary means one of type integer16: give an expression or a policy"
    ),
    (
      PropertyMapping("name", from: .expression(.keyPath(.variable("entityPolicy"), ["x"]))),
      "the mapping PersonToHuman, name: $entityPolicy.x uses $entityPolicy, and only $source is known here: do it in a policy"
    ),
    (
      PropertyMapping("address", from: .expression(MappedStore.destinations("HouseToHome", of: "home"))),
      "the mapping PersonToHuman, address: there is no entity mapping HouseToHome"
    ),
    (
      PropertyMapping("address", from: .expression(.keyPath(.variable("source"), ["home", "street"]))),
      "the mapping PersonToHuman, address: $source.home.street gives no destinations: ask for them by "
        + "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", …)"
    ),
  ])
  func whatCannotBeRunIsToldBeforeAnythingIsWritten(_ property: PropertyMapping, _ message: String) throws {
    let mapping = try mapping { $0.entityMappings[0].attributeMappings = [property] }
    var steps = 0
    let error = #expect(throws: ModelError.self) { try world.migrate(mapping) { _ in steps += 1 } }
    #expect(error?.message == message)
    #expect(error?.code == .invalidModel && error?.property == property.name && steps == 0)
    #expect(try world.everything() == before)
  }

  @Test func entitiesMappingsAndPoliciesAreLookedUpFirst() throws {
    func refusal(_ change: (inout MappingModel) -> Void) throws -> String? {
      let mapping = try mapping(change)
      return #expect(throws: ModelError.self) { try world.migrate(mapping) }?.message
    }
    #expect(
      try refusal { $0.entityMappings[1].sourceEntityName = "Hous" }
        == "the mapping HouseToAddress: the older model has no entity Hous; did you mean House?")
    #expect(
      try refusal { $0.entityMappings[1].migrationPolicyClassName = "App.HousePolicy" }
        == "the mapping names a migration policy of its app that was not given: App.HousePolicy (HouseToAddress). In Swift "
        + "give an EntityMigrationPolicy for each name (policies:), or let a Lua script do it (--mapping FILE.lua, with a "
        + "function for each entity)"
    )
    #expect(
      try refusal {
        $0.entityMappings[0].migrationPolicyClassName = "App.B"
        $0.entityMappings[1].migrationPolicyClassName = "App.A"
        $0.entityMappings[2].migrationPolicyClassName = "App.B"
      }?.contains(
        "policies of its app that were not given: App.A (HouseToAddress), App.B (PersonToHuman, AnimalToPet). ")
        == true)
    #expect(
      try refusal { $0.obstacles = ["m.xml:3: filter of XDDEVENTITYMAPPING is age > 3"] }?
        .hasPrefix("m.xml:3: filter of XDDEVENTITYMAPPING is age > 3, which nothing here does") == true)
    #expect(
      try refusal { $0.entityMappings[1].name = "PersonToHuman" }
        == "the mapping PersonToHuman: there are two entity mappings of this name: rename one")
    #expect(try world.everything() == before)
  }
}
