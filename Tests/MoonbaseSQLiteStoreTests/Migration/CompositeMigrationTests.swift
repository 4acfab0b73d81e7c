import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools
import MoonbaseHistory

/// Composite attributes between versions of a model: added, removed, renamed, with other elements.
@Suite struct CompositeMigrationTests {
  private let store: MigratedStore
  private let old = Addresses.model()

  init() throws {
    store = try MigratedStore()
    try store.fill(old, tracksHistory: true) { context in
      _ = try context.insert(
        "Person",
        values: [
          "name": "a",
          "address": ["city": "Rome", "number": 7, "street": "12", "place": ["latitude": 1.5, "height": 2]],
        ])
      _ = try context.insert("Person", values: ["name": "b"])
    }
  }

  private func changed(_ change: (inout AttributeDescription) -> Void) -> ManagedObjectModel {
    old.changed { change(&$0[entity: "Person"].attributes[1]) }
  }

  private func addresses(_ model: ManagedObjectModel, _ key: String = "address") throws -> [Value] {
    try store.using(model) { context throws in
      try context.fetch(FetchRequest("Person")).map { try $0.value(forKey: key) }
    }
  }

  @Test func anElementThatIsNewIsEmptyAndTheOthersStay() throws {
    let new = changed { $0.elements.append(AttributeDescription("floor", type: .integer16)) }
    #expect(try store.migrate(to: new).losses == [])
    #expect(
      try addresses(new) == [
        ["city": "Rome", "number": 7, "street": "12", "place": ["latitude": 1.5, "height": 2.0]], .null,
      ])
  }

  @Test func anElementThatIsGoneIsALossWhereRowsHaveSomethingThere() throws {
    let new = changed { $0.elements.removeAll { $0.name == "city" || $0.name == "rent" } }
    let losses = try store.plan(to: new).losses
    #expect(losses.map(\.property) == ["address.city"] && losses[0].rowCount == 1)
    #expect { try store.migrate(to: new) } throws: { ($0 as? GraphError)?.code == .migrationLoss }
    try store.migrate(to: new, allowsLoss: true)
    #expect(try addresses(new)[0] == ["number": 7, "street": "12", "place": ["latitude": 1.5, "height": 2.0]])
  }

  @Test func aRenamedCompositeAndItsRenamedElementsKeepTheirValues() throws {
    let new = changed { address in
      (address.name, address.renamingIdentifier) = ("home", "address")
      (address.elements[1].name, address.elements[1].renamingIdentifier) = ("town", "city")
      (address.elements[9].name, address.elements[9].renamingIdentifier) = ("spot", "place")
      (address.elements[9].elements[0].name, address.elements[9].elements[0].renamingIdentifier) = ("north", "latitude")
    }
    let plan = try store.migrate(to: new)
    #expect(plan.losses == [])
    #expect(
      plan.steps[0].changes.contains { $0.hasPrefix("~ home (was address): ~ town (was city), ") },
      "\(plan.steps)")
    #expect(
      try addresses(new, "home")[0] == [
        "town": "Rome", "number": 7, "street": "12", "spot": ["north": 1.5, "height": 2.0],
      ])
  }

  @Test func anElementOfAnotherTypeIsConverted() throws {
    let new = changed { $0.elements[0].type = .integer32 }
    #expect(try store.migrate(to: new).losses == [])
    #expect(try addresses(new)[0].element(at: ["street"]) == 12)
    let number = new.changed { $0[entity: "Person"].attributes[1].elements[1].type = .integer32 }
    let losses = try store.plan(to: number).losses
    #expect(
      losses.map(\.description).contains { $0.contains("address.city") && $0.contains("cannot keep") }, "\(losses)")
  }

  @Test func aTypeOfAnElementThatMeansNothingOfTheOtherIsNoInference() throws {
    let new = changed { $0.elements[2].type = .uuid }
    #expect { try store.migrate(to: new) } throws: { "\($0)".contains("changed the type of number from") }
  }

  @Test func aCompositeThatIsGoneIsALoss() throws {
    let new = old.changed { $0[entity: "Person"].attributes.removeLast() }
    #expect(try store.plan(to: new).losses.map(\.property) == ["address"])
    try store.migrate(to: new, allowsLoss: true)
    try store.migrate(to: old)
    #expect(try addresses(old) == [.null, .null])
  }

  @Test func aCompositeThatIsRequiredNowGetsItsDefaultWhole() throws {
    let bare = changed { $0.isOptional = false }
    #expect(try store.plan(to: bare).losses.map(\.rowCount) == [1])
    let new = changed { ($0.isOptional, $0.defaultValue) = (false, ["city": "Bonn", "place": ["height": 1]]) }
    #expect(try store.migrate(to: new).losses == [])
    #expect(try addresses(new)[1] == ["city": "Bonn", "place": ["height": 1.0]])
    #expect(try addresses(new)[0].element(at: ["city"]) == "Rome")
  }

  @Test func anElementThatIsRequiredNowIsCountedWhereValuesLackIt() throws {
    #expect(try store.plan(to: changed { $0.elements[1].isOptional = false }).losses == [])
    let losses = try store.plan(to: changed { $0.elements[4].isOptional = false }).losses
    #expect(losses.map(\.property) == ["address.rent"] && losses[0].rowCount == 1)
  }

  @Test func aTableInWhichNoElementChangesStays() throws {
    let new = old.changed {
      $0.entities.append(EntityDescription("Zoo") { AttributeDescription("name", type: .string) })
    }
    try store.migrate(to: new)
    #expect(try addresses(new)[0].element(at: ["city"]) == "Rome")
    try store.using(new) { context throws in
      let change = try #require(try context.execute(.fetchHistory(after: nil)).transactions?.last?.changes?.first)
      #expect(change.changeType == .insert)
    }
  }
}
