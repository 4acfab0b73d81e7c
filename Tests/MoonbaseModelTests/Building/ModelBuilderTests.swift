import MoonbaseModel
import Testing

/// Building models in Swift.
@Suite struct ModelBuilderTests {
  @Test func aModelReadsLikeItsEntities() throws {
    let model = ManagedObjectModel {
      EntityDescription("Person", class: "Person") {
        AttributeDescription("lastName", type: .string).required().length(1...80)
        AttributeDescription("age", type: .integer16).required(default: 0).between(0, 150)
        AttributeDescription("color", type: .transformable).transformed(by: "ColorTransformer", class: "Color")
        RelationshipDescription.toMany("friends", destination: "Person", inverse: "friends").ordered().count(
          atMost: 500)
        UniquenessConstraint("lastName", "age")
        FetchIndexDescription("byAge", on: "-age", "lastName")
      }
      EntityDescription("Employee", parent: "Person") {
        AttributeDescription("number", type: .integer32).required().with { $0.versionHashModifier = "2" }
      }
    }
    let person = try #require(model.entitiesByName["Person"])
    #expect(person.attributes.map(\.name) == ["lastName", "age", "color"])
    #expect(person.attributes[0].validation.maximumLength == 80)
    #expect(person.attributes[1].validation.maximum == 150)
    #expect(person.relationships[0].maxCount == 500)
    #expect(person.uniquenessConstraints == [["lastName", "age"]])
    #expect(person.indexes[0].elements.map(\.isAscending) == [false, true])
    #expect(model.entitiesByName["Employee"]?.attributes[0].versionHashModifier == "2")
    _ = try model.resolved()
  }

  @Test func loopsAndConditionsWorkInside() {
    let model = ManagedObjectModel {
      for number in 1...3 {
        EntityDescription("Entity\(number)") {
          for letter in ["a", "b"] { AttributeDescription(letter, type: .string) }
          if number == 2 { AttributeDescription("c", type: .date) }
        }
      }
    }
    #expect(model.entities.map(\.name) == ["Entity1", "Entity2", "Entity3"])
    #expect(model.entities.map(\.attributes.count) == [2, 3, 2])
  }

  @Test func aModelIsAValue() {
    let model = ManagedObjectModel {
      EntityDescription("Person") { AttributeDescription("color", type: .transformable) }
    }
    var copy = model
    copy.entities[0].attributes[0].valueClassName = "Color"
    #expect(model.entities[0].attributes[0].valueClassName == nil)
    #expect(copy != model)
  }
}
