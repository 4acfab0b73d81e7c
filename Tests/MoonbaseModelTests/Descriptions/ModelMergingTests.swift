import MoonbaseModel
import Testing

@Suite struct ModelMergingTests {
  private let person = EntityDescription("Person") { AttributeDescription("name", type: .string) }

  @Test func entitiesOfAllModelsAreThere() throws {
    var (first, second) = (
      ManagedObjectModel(entities: [person]), ManagedObjectModel(entities: [EntityDescription("Department")])
    )
    first.configurations = ["Local": ["Person"]]
    second.configurations = ["Local": ["Department"]]
    second.versionIdentifiers = ["2"]
    let merged = try ManagedObjectModel(merging: [first, second])
    #expect(merged.entities.map(\.name) == ["Person", "Department"])
    #expect(merged.configurations == ["Local": ["Person", "Department"]])
    #expect(merged.versionIdentifiers == ["2"])
  }

  @Test func anEntityThatTwoModelsStateAlikeIsTakenOnce() throws {
    var again = person
    again.location = SourceLocation(file: "other.lua", line: 3)
    let models = [ManagedObjectModel(entities: [person]), ManagedObjectModel(entities: [again])]
    #expect(try ManagedObjectModel(merging: models).entities == [person])
  }

  @Test func anEntityThatTwoModelsStateDifferentlyIsRefused() {
    let other = person.with { $0.isAbstract = true }
    let error = #expect(throws: ModelError.self) {
      try ManagedObjectModel(merging: [ManagedObjectModel(entities: [person]), ManagedObjectModel(entities: [other])])
    }
    #expect(error?.message == "entity Person is stated differently in two of the models")
  }
}
