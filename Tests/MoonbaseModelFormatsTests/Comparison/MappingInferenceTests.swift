import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

/// Inferring mappings.
@Suite struct MappingInferenceTests {
  private func infer(_ change: (inout ManagedObjectModel) -> Void) throws -> MappingInference {
    var model = SampleModels.rich
    change(&model)
    return MappingInference(from: try SampleModels.rich.resolved(), to: try model.resolved())
  }

  private func problems(_ change: (inout ManagedObjectModel) -> Void) throws -> [String] {
    try infer(change).problems.map(\.message)
  }

  private func conditions(_ change: (inout ManagedObjectModel) -> Void) throws -> [String] {
    let inference = try infer(change)
    #expect(inference.problems == [])
    return inference.conditions.map(\.message)
  }

  @Test func nothingChangedIsCopied() throws {
    let inference = try infer { _ in }
    #expect(inference.problems == [])
    #expect(inference.mapping.entityMappings.allSatisfy { $0.kind == .copy })
    #expect(inference.mapping.entityMapping(named: "PersonToPerson") != nil)
  }

  @Test func renamingsAndDefaultsAreInferred() throws {
    let inference = try infer { model in
      model.entities[3].name = "Division"
      model.entities[3].renamingIdentifier = "Department"
      model.entities[1].relationships[0].destinationEntityName = "Division"
      model.configurations = [:]
      model.entities[1].attributes[0].isOptional = false
      model.entities[1].attributes[0].defaultValue = "?"
      var nick = AttributeDescription("nick", type: .string)
      nick.defaultValue = "none"
      model.entities[1].attributes.append(nick)
      model.entities[1].relationships[1].isOrdered = false
      model.entities.append(EntityDescription("Project"))
    }
    #expect(inference.problems == [])
    let mapping = inference.mapping
    #expect(mapping.entityMapping(named: "DepartmentToDivision")?.kind == .transform)
    #expect(mapping.entityMapping(named: "Project")?.kind == .add)
    let person = try #require(mapping.entityMapping(named: "PersonToPerson"))
    #expect(person.attributeMappings.contains(PropertyMapping("nick", from: .value("none"))))
    #expect(person.attributeMappings.contains(PropertyMapping("age", from: .property("age"))))
    #expect(!person.attributeMappings.contains { $0.name == "friendCount" || $0.name == "bounds" })
    #expect(mapping.entityMapping(named: "BeingToBeing")?.kind == .copy)
  }

  @Test func removedEntitiesAreRemoved() throws {
    let inference = try infer { model in
      model.configurations = [:]
      model.entities.remove(at: 2)
    }
    #expect(inference.mapping.entityMappings.last == EntityMapping(.remove, from: "Employee", to: nil))
  }

  @Test func whatCannotBeInferredSaysWhy() throws {
    #expect(
      try problems { $0.entities[3].attributes[0].type = .boolean } == [
        "Department.name changed its type from string to boolean: say how values become the other type"
      ])
    #expect(
      try problems { $0.entities[3].superentityName = "Being" } == [
        "Department joined a hierarchy with entities of Being: two hierarchies cannot become one"
      ])
  }

  @Test func whatTheRowsDecideIsACondition() throws {
    #expect(
      try conditions { $0.entities[3].attributes[0].type = .integer64 } == [
        "Department.name changed its type from string to integer64: all values must have a meaning in it"
      ])
    #expect(
      try conditions { $0.entities[3].attributes[0].isOptional = false } == [
        "Department.name became required and has no default for objects without a value: give it one, unless all have one"
      ])
    #expect(
      try conditions { $0.entities[3].relationships[0].maxCount = 1 } == [
        "Department.people became to-one: no object may have several destinations"
      ])
    #expect(
      try conditions {
        var code = AttributeDescription("code", type: .string)
        code.isOptional = false
        $0.entities[3].attributes.append(code)
      } == [
        "Department.code is required, new and has no default: give it one or make it optional, unless there are no objects"
      ])
    #expect(try conditions { $0.entities[3].attributes[0].isTransient = true } == [])
  }

  @Test func theThrowingFormNamesAllReasons() throws {
    var model = SampleModels.rich
    model.entities[3].attributes[0].type = .boolean
    model.entities[1].attributes[3].type = .date
    model.entities[1].attributes[3].defaultValue = .null
    let error = #expect(throws: ModelError.self) {
      try MappingModel(inferredFrom: try SampleModels.rich.resolved(), to: try model.resolved())
    }
    #expect(error?.code == .cannotInferMapping)
    #expect(error?.message.contains("Department.name") == true)
    #expect(error?.message.contains("Person.weight") == true)
  }

  @Test(.enabled(if: RealFiles.areThere, "the real models are not beside the checkout"))
  func theMappingOfARealMigrationIsInferred() throws {
    let (old, new) = (
      try RealFiles.model("LoopKit-Model_v1.contents.xml"), try RealFiles.model("LoopKit-Model_v4.contents.xml")
    )
    let difference = ModelDifference(from: old, to: new)
    #expect(difference.needsMigration)
    let inference = MappingInference(from: try old.resolved(), to: try new.resolved())
    #expect(
      inference.mapping.entityMappings.contains { $0.kind == .remove && $0.sourceEntityName == "DeletedCarbObject" })
  }
}
