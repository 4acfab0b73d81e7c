import MoonbaseModel
import Testing

@Suite("Warnings about models")
struct ModelWarningTests {
  private func warnings(@EntityBuilder _ elements: () -> [any EntityElement]) throws -> [String] {
    try ManagedObjectModel(entities: [EntityDescription("Person", elements)]).resolved().warnings
  }

  @Test func optionalNumbersWithoutDefault() throws {
    #expect(
      try warnings { AttributeDescription("age", .integer16) } == [
        "Person.age is an optional number without a default: NULL is not 0 in a store, so give it a default"
      ])
    #expect(try warnings { AttributeDescription("age", .integer16).defaulting(to: 0) } == [])
    #expect(try warnings { AttributeDescription("age", .integer16).required() } == [])
    #expect(try warnings { AttributeDescription("age", .integer16).transient() } == [])
  }

  @Test func relationshipsWithoutInverse() throws {
    #expect(
      try warnings { RelationshipDescription.toOne("boss", "Person") } == [
        "Person.boss has no inverse: the other side will not be kept in step"
      ])
  }

  @Test func defaultsThatTheirOwnRulesRefuse() throws {
    #expect(try warnings { AttributeDescription("age", .integer16).required(default: 3).between(5, 9) }.count == 1)
    #expect(try warnings { AttributeDescription("name", .string).defaulting(to: "x").length(2...3) }.count == 1)
    #expect(try warnings { AttributeDescription("name", .string).defaulting(to: "x").oneOf("y") }.count == 1)
    #expect(try warnings { AttributeDescription("name", .string).defaulting(to: "xx").length(2...3) } == [])
  }
}
