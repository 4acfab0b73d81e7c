import MoonbaseModel
import Testing

/// Warnings about models.
@Suite struct ModelWarningTests {
  private func warnings(@EntityBuilder _ elements: () -> [any EntityElement]) throws -> [String] {
    try ManagedObjectModel(entities: [EntityDescription("Person", elements)]).resolved().warnings
  }

  @Test func anOptionalNumberWithoutADefaultIsNoWarning() throws {
    #expect(try warnings { AttributeDescription("age", type: .integer16) } == [])
  }

  /// A to-many relationship may be empty even if it is not optional; only `min` refuses that.
  @Test func aRequiredToManyRelationshipWithoutAMinimumIsAWarning() throws {
    func found(_ change: (inout RelationshipDescription) -> Void) throws -> [String] {
      try warnings { RelationshipDescription.toMany("friends", destination: "Person", inverse: "friends").with(change) }
    }
    #expect(try found { _ in } == [])
    #expect(
      try found { $0.isOptional = false } == [
        "Person.friends is not optional, which allows an empty to-many relationship: say min = 1 if it must not be empty"
      ])
    #expect(try found { ($0.isOptional, $0.minCount) = (false, 1) } == [])
    #expect(
      try warnings { RelationshipDescription.toOne("boss", destination: "Person", inverse: "boss").required() } == [])
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
    #expect(try ManagedObjectModel().resolved().warnings == ["the model has no entity"])
  }

  @Test func whatNoStoreKeepsOfACompositeIsAWarning() throws {
    func found(_ change: (inout AttributeDescription) -> Void) throws -> [String] {
      try warnings {
        AttributeDescription("place", type: .composite).with {
          $0.elements = [AttributeDescription("x", type: .string)]
          change(&$0)
        }
      }
    }
    #expect(try found { _ in } == [])
    let texts = try [
      found { $0.elements[0].type = .transformable }, found { $0.elements[0].isTransient = true },
      found { $0.elements[0].derivationExpression = "now()" }, found { $0.elements[0].defaultValue = "a" },
      found { $0.elements[0].preservesValueInHistoryOnDeletion = true },
      found { $0.elements = [AttributeDescription("y", type: .composite)] }, found { $0.elements = [] },
    ]
    #expect(
      texts == [
        ["Person.place has the element x, which is transformable: no transformer is asked for an element"],
        ["Person.place has the element x, which is transient: an element is kept with its attribute"],
        ["Person.place has the element x, which is derived: no element is"],
        ["Person.place has a default for its element x, which is never used: give the whole attribute a default"],
        [
          "Person.place is a composite, of whose values no history keeps any: give what it is to keep an attribute of its own"
        ], ["Person.place has the element y, which is a composite without elements"],
        ["Person.place is a composite without elements"],
      ])
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
