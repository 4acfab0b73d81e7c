import MoonbaseModel
import Testing

/// Warnings about models.
@Suite struct ModelWarningTests {
  private func warnings(@EntityBuilder _ elements: () -> [any EntityElement]) throws -> [String] {
    try ManagedObjectModel(entities: [EntityDescription("Person", elements)]).resolved().warnings
  }

  @Test func anOptionalNumberWithoutADefaultIsAWarning() throws {
    #expect(
      try warnings { AttributeDescription("age", type: .integer16) } == [
        "Person.age is an optional number without a default: NULL is not 0 in a store, so give it a default"
      ])
    #expect(try warnings { AttributeDescription("age", type: .integer16).defaulting(to: 0) } == [])
    #expect(try warnings { AttributeDescription("age", type: .integer16).required() } == [])
    #expect(try warnings { AttributeDescription("age", type: .integer16).transient() } == [])
  }

  @Test func aRelationshipWithoutAnInverseIsAWarning() throws {
    #expect(
      try warnings { RelationshipDescription.toOne("boss", destination: "Person") } == [
        "Person.boss has no inverse: the other side will not be kept in step"
      ])
  }

  @Test func whatIsNotComputedHereIsAWarning() throws {
    let derived = try warnings {
      AttributeDescription("age", type: .integer16)
      AttributeDescription("same", type: .integer64).with { $0.derivationExpression = "age" }
      AttributeDescription("text", type: .string).with { $0.derivationExpression = "age" }
    }
    #expect(
      derived.filter { $0.contains("derived") }.map { $0.prefix(60) } == [
        "Person.text is derived from age, which no store here keeps c"
      ])
    let composite = try warnings {
      AttributeDescription("place", type: .composite).with { $0.elements = [AttributeDescription("x", type: .string)] }
    }
    #expect(composite.count == 1 && composite[0].contains("no SQLite store can keep"))
    #expect(try ManagedObjectModel().resolved().warnings == ["the model has no entity"])
  }

  @Test func aNameThatOnlyTheAppProvidesIsAWarning() throws {
    let entity = EntityDescription("A") {
      AttributeDescription("c", type: .transformable).with {
        $0.valueTransformerName = "ColorTransformer"
        $0.valueClassName = "Color"
      }
      AttributeDescription("d", type: .transformable).with { $0.valueTransformerName = "NSSecureUnarchiveFromData" }
    }
    var model = ManagedObjectModel(entities: [entity])
    #expect(
      try model.resolved().warnings == [
        "A.c names the transformer ColorTransformer, which an extension has to provide to open a store",
        "A.c names the value class Color, which an extension has to provide to open a store",
      ])
    model.allowsUnknownClasses = true
    #expect(try model.resolved().warnings.allSatisfy { $0.hasSuffix("the value is bytes that cannot be assigned") })
  }

  @Test func aDefaultThatItsOwnRulesRefuseIsAWarning() throws {
    #expect(
      try warnings { AttributeDescription("age", type: .integer16).required(default: 3).between(5, 9) }.count == 1)
    #expect(try warnings { AttributeDescription("name", type: .string).defaulting(to: "x").length(2...3) }.count == 1)
    #expect(try warnings { AttributeDescription("name", type: .string).defaulting(to: "x").oneOf("y") }.count == 1)
    #expect(try warnings { AttributeDescription("name", type: .string).defaulting(to: "xx").length(2...3) } == [])
  }
}
