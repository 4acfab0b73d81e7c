import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

@Suite struct ModelDifferenceTests {
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
      model.entities[3].attributes = [AttributeDescription("budget", type: .decimal)]
    }
    #expect("\(difference)" == "~ entity Department !\n  + budget !: type decimal\n  - name !: type was string")
  }

  @Test func aRenamingIdentifierThatIsTheNameIsNone() {
    let difference = changed { model in
      model.entities[3].renamingIdentifier = model.entities[3].name
      model.entities[3].attributes[0].renamingIdentifier = model.entities[3].attributes[0].name
    }
    #expect(difference.isEmpty, "\(difference)")
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

  @Test func addedAndRemovedEntitiesAreDifferences() {
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

  // MARK: What Lua has no words for

  @Test func aDefaultThatLuaCannotWriteDiffers() {
    func model(_ bytes: [UInt8]) -> ManagedObjectModel {
      ManagedObjectModel {
        EntityDescription("Thing") {
          AttributeDescription("icon", type: .binaryData).defaulting(to: .data(Data(bytes)))
        }
      }
    }
    let difference = ModelDifference(from: model([1]), to: model([2]))
    #expect("\(difference)" == "~ entity Thing\n  ~ icon: default AQ== → Ag==")
    #expect(ModelDifference(from: model([1]), to: model([1])).isEmpty)
  }

  @Test func aDefaultThatLuaCannotWriteHidesNoOtherDifference() {
    func model(_ transformer: String) -> ManagedObjectModel {
      ManagedObjectModel {
        EntityDescription("Thing") {
          AttributeDescription("icon", type: .transformable).defaulting(to: .data(Data([1]))).transformed(
            by: transformer
          )
          .with { $0.userInfo = ["since": .date(Date(timeIntervalSinceReferenceDate: 0))] }
        }
      }
    }
    #expect("\(ModelDifference(from: model("A"), to: model("B")))" == "~ entity Thing\n  ~ icon: transformer A → B")
  }

  @Test(
    arguments: [
      (["at": .date(Date(timeIntervalSinceReferenceDate: 0))], ["at": .date(Date(timeIntervalSinceReferenceDate: 1))]),
      (["at": .date(Date(timeIntervalSinceReferenceDate: 0))], [:]), (["a": 1], ["a": 1.0]), (["a": 1], ["a": "1"]),
      (["a": .decimal(1)], ["a": "1"]),
    ] as [([String: Value], [String: Value])])
  func userInfoOfAnyValuesDiffers(old: [String: Value], new: [String: Value]) {
    func models(_ place: WritableKeyPath<EntityDescription, [String: Value]>) -> ModelDifference {
      var one = EntityDescription("Thing") {
        AttributeDescription("name", type: .string)
        RelationshipDescription.toOne("next", destination: "Thing")
        FetchedPropertyDescription("all", fetchRequest: FetchRequest("Thing"))
      }
      var other = one
      one[keyPath: place] = old
      other[keyPath: place] = new
      return ModelDifference(from: ManagedObjectModel(entities: [one]), to: ManagedObjectModel(entities: [other]))
    }
    #expect(models(\.userInfo).entities.first?.aspects.map(\.aspect) == ["user_info"])
    for place in [
      \EntityDescription.attributes[0].userInfo, \.relationships[0].userInfo, \.fetchedProperties[0].userInfo,
    ] {
      #expect(models(place).entities.first?.properties.first?.aspects.map(\.aspect) == ["user_info"])
    }
  }

  @Test func identifiersThatReadAlikeWhenJoinedDiffer() {
    let difference = changed { $0.versionIdentifiers = ["1", "2"] }
    var joined = SampleModels.rich
    joined.versionIdentifiers = ["1, 2"]
    var apart = SampleModels.rich
    apart.versionIdentifiers = ["1", "2"]
    #expect(difference.others.map(\.aspect) == ["version"])
    #expect(ModelDifference(from: joined, to: apart).others.map(\.aspect) == ["version"])
  }

  @Test func theSameParentSaidFromEitherEndIsNoDifference() {
    let child = EntityDescription("Employee", parent: "Person") {}
    let parent = EntityDescription("Person").with { $0.subentityNames = ["Employee"] }
    let fromBelow = ManagedObjectModel(entities: [EntityDescription("Person"), child])
    let fromAbove = ManagedObjectModel(entities: [parent, EntityDescription("Employee")])
    #expect(ModelDifference(from: fromBelow, to: fromAbove).isEmpty)
  }
}
