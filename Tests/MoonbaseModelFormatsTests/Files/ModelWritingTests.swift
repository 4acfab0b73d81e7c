import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

@Suite struct ModelWritingTests {
  private func throughXcode(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
    try ManagedObjectModel.read(ModelSource(Data(model.xcodeContents().utf8), name: "contents"))
  }

  private func throughTree(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
    try ManagedObjectModel(tree: model.tree(), file: "model.lua")
  }

  private func expectEqual(_ left: ManagedObjectModel, _ right: ManagedObjectModel) {
    for (left, right) in zip(left.entities, right.entities) {
      for (left, right) in zip(left.attributes, right.attributes) { #expect(left == right) }
      for (left, right) in zip(left.relationships, right.relationships) { #expect(left == right) }
      #expect(left == right)
    }
    #expect(left == right)
  }

  @Test func aRichModelSurvivesTheLuaForm() throws {
    expectEqual(try throughTree(SampleModels.rich), SampleModels.rich)
  }

  @Test func aRichModelSurvivesXcodesForm() throws {
    var model = SampleModels.rich
    model.fetchRequestTemplates["tenPeople"]?.sortDescriptors = []
    let again = try throughXcode(model)
    expectEqual(again, model)
    #expect(again.warnings == [])
  }

  @Test(
    .enabled(if: RealFiles.areThere, "the real models are not beside the checkout"), arguments: RealFiles.xcodeModels)
  func realModelsSurviveBothForms(name: String) throws {
    let model = try RealFiles.model(name)
    expectEqual(try throughXcode(model), model)
    expectEqual(try throughTree(model), model)
  }

  @Test(
    .enabled(if: RealFiles.areThere, "the real stores are not beside the checkout"),
    arguments: RealFiles.storesWithCache)
  func modelsOfRealStoresSurviveTheLuaForm(store: String) throws {
    let model = try ManagedObjectModel(modelCache: RealFiles.modelCache(of: store))
    expectEqual(try throughTree(model), model)
  }

  @Test func whatXcodeCannotSayIsRefusedNotLost() throws {
    var model = SampleModels.rich
    #expect(throws: ModelError.self) { try model.xcodeContents() }
    model.fetchRequestTemplates = [:]
    _ = try model.xcodeContents()
    model.entities[1].userInfo["number"] = 3
    #expect(throws: ModelError.self) { try model.xcodeContents() }
  }

  @Test func luaSourceReadsWell() throws {
    var person = EntityDescription("Person")
    person.attributes = [
      AttributeDescription("firstName", type: .string), AttributeDescription("end", type: .integer16),
    ]
    person.attributes[1].isOptional = false
    person.attributes[1].defaultValue = 3
    person.relationships = [.toMany("friends", destination: "Person", inverse: "friends")]
    person.uniquenessConstraints = [["firstName"]]
    person.userInfo = ["quote": "a \"b\"\n"]
    var model = ManagedObjectModel(entities: [person])
    model.versionIdentifiers = ["1"]
    #expect(
      try model.luaSource() == """
        return {
          version = "1",
          entities = {
            Person = {
              attributes = {
                firstName = "string",
                ["end"] = { "integer16", optional = false, default = 3 },
              },
              relationships = {
                friends = { to_many = "Person", inverse = "friends" },
              },
              constraints = { { "firstName" } },
              user_info = { quote = "a \\"b\\"\\n" },
            },
          },
        }

        """)
  }
}
