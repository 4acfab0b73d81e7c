import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

@Suite("Comparing models")
struct ModelDifferenceTests {
  private func changed(_ change: (inout ManagedObjectModel) -> Void) -> ModelDifference {
    var model = SampleModels.rich
    change(&model)
    return ModelDifference(from: SampleModels.rich, to: model)
  }

  @Test func equalModelsDoNotDiffer() {
    let difference = changed { _ in }
    #expect(difference.isEmpty)
    #expect(!difference.needsMigration)
    #expect("\(difference)" == "no difference")
  }

  @Test func aDefaultValueDiffersWithoutMigration() throws {
    let difference = changed { $0.entities[1].attributes[2].defaultValue = 18 }
    #expect("\(difference)" == "~ entity Person\n  ~ age: default 0 → 18")
    #expect(!difference.needsMigration)
  }

  @Test func aTypeDiffersWithMigration() throws {
    let difference = changed { $0.entities[3].attributes[0].type = .uri }
    #expect("\(difference)" == "~ entity Department !\n  ~ name !: type string → uri")
    #expect(difference.needsMigration)
  }

  @Test func addedAndRemovedPropertiesSayWhatTheyAre() {
    let difference = changed { model in
      model.entities[3].attributes = [AttributeDescription("budget", .decimal)]
    }
    #expect("\(difference)" == "~ entity Department !\n  + budget !: type decimal\n  - name !: type was string")
  }

  @Test func renamedThingsAreRecognized() {
    let difference = changed { model in
      model.entities[3].attributes[0].name = "title"
      model.entities[3].attributes[0].renamingIdentifier = "name"
    }
    #expect("\(difference)" == "~ entity Department !\n  ~ title (was name) !: renamed_from name")
  }

  @Test func renamedEntitiesAreRecognized() throws {
    let old = ManagedObjectModel(entities: [EntityDescription("Human")])
    var person = EntityDescription("Person")
    person.renamingIdentifier = "Human"
    let difference = ModelDifference(from: old, to: ManagedObjectModel(entities: [person]))
    #expect(difference.entities.map(\.kind) == [.renamed])
    #expect(difference.entities.first?.oldName == "Human")
  }

  @Test func addedAndRemovedEntities() {
    let difference = changed { model in
      model.entities.remove(at: 2)
      model.configurations = [:]
      model.entities.append(EntityDescription("Project"))
    }
    #expect(difference.entities.map(\.kind) == [.added, .removed])
    #expect(difference.entities.map(\.name) == ["Project", "Employee"])
    #expect(difference.others.map(\.aspect) == ["configurations.Cloud", "configurations.Local"])
  }

  @Test func movedPropertiesSayWhere() throws {
    let difference = changed { model in
      let number = model.entities[2].attributes.removeLast()
      model.entities[1].attributes.append(number)
    }
    let person = try #require(difference.entities.first { $0.name == "Person" })
    #expect(person.properties.first?.movedBetween == "Employee")
    let employee = try #require(difference.entities.first { $0.name == "Employee" })
    #expect(employee.properties.first?.movedBetween == "Person")
  }

  @Test func anIdentifierThatStaysIsNoNewRenaming() {
    var old = EntityDescription("Person")
    old.renamingIdentifier = "Human"
    let model = ManagedObjectModel(entities: [old, EntityDescription("Human")])
    #expect(ModelDifference(from: model, to: model).isEmpty)
  }
}
