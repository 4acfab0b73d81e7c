import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

/// Models of real applications.
@Suite(.enabled(if: RealFiles.areThere, "the real models are not beside the checkout"))
struct RealModelTests {
  @Test(arguments: RealFiles.xcodeModels)
  func xcodeModelsLoadWithoutAnythingUnknown(name: String) throws {
    let model = try RealFiles.model(name)
    #expect(!model.entities.isEmpty)
    #expect(model.warnings == [])
    _ = try model.resolved()
  }

  @Test(arguments: [
    ("ddg-BookmarksModel5", "Bookmarks_V5"), ("ddg-SyncMetadata3", "SyncMetadata_V3"),
    ("CoreDataPlus-SampleModel_V1", "CoreDataPlus-SampleModel_V1"),
    ("CoreDataPlus-SampleModel3_V1", "CoreDataPlus-SampleModel3_V1"), ("LoopKit-Model_v1", "LoopKit-Model.v1"),
  ])
  func theXcodeModelSaysWhatTheStoresOwnCopySays(model: String, store: String) throws {
    let source = try RealFiles.model("\(model).contents.xml")
    let cached = try ManagedObjectModel(modelCache: RealFiles.modelCache(of: "\(store).sqlite"))
    let (left, right) = (source.comparable.entities, cached.comparable.entities)
    #expect(left.map(\.name) == right.map(\.name))
    for (left, right) in zip(left, right) {
      for (left, right) in zip(left.attributes, right.attributes) { #expect(left == right) }
      #expect(left.relationships == right.relationships)
      #expect(left.indexes == right.indexes)
      #expect(left == right)
    }
  }

  @Test(arguments: RealFiles.storesWithCache)
  func compiledModelsHoldNothingUnknown(store: String) throws {
    let model = try ManagedObjectModel(modelCache: RealFiles.modelCache(of: store))
    #expect(!model.warnings.contains { $0.contains("is not understood") })
  }

  @Test func theFolderOfCompiledModelsHoldsThreeVersions() throws {
    let model = try VersionedModel(ModelSource(contentsOf: RealFiles.url("models/CoreDataPlus-momd")))
    #expect(model.versions.map(\.name) == ["SampleModel3", "SampleModel3_v2", "SampleModel3_v3"])
    #expect(model.currentName == "SampleModel3")
    #expect(model.versions[2].model.entitiesByName.keys.sorted() == ["Pet", "User"])
    #expect(try RealFiles.model("CoreDataPlus-momd") == model.current)
  }

  @Test func anOptimizedModelIsRefusedPolitely() throws {
    #expect {
      try RealFiles.model("CoreDataPlus-momd/SampleModel3.omo")
    } throws: {
      ($0 as? ModelError)?.code == .unsupportedForm
    }
  }

  @Test func fetchedPropertiesDerivationsAndRulesAreRead() throws {
    let model = try ManagedObjectModel(modelCache: RealFiles.modelCache(of: "CoreDataPlus-SampleModel2_V1.sqlite"))
    let entities = model.entitiesByName
    let author = try #require(entities["Author"])
    #expect(author.superentityName == "Writer")
    #expect(author.attributes.map(\.name) == ["alias", "siteURL"])
    #expect(author.fetchedProperties.map(\.name) == ["favFeedbacks", "feedbacks"])
    #expect(author.fetchedProperties[0].userInfo == ["search": "great"])
    #expect(author.fetchedProperties[1].fetchRequest.sortDescriptors == [SortDescriptor("rating")])
    let book = try #require(entities["Book"])
    #expect(book.attributes.first { $0.name == "pagesCount" }?.derivationExpression == "pages.@count")
    let title = try #require(book.attributes.first { $0.name == "title" })
    #expect(title.validation.predicates.map(\.message).first == "Title must have a length between 3 and 50 chars.")
    #expect(book.uniquenessConstraints == [["uniqueID"]])
    #expect(model.configurations["SampleConfigurationV1"]?.count == 6)
    #expect(model.warnings.contains { $0.contains("CoreDataPlus_Tests.Cover") })
  }

  @Test func rulesOfXcodesInspectorAreRecognized() throws {
    let model = try ManagedObjectModel(modelCache: RealFiles.modelCache(of: "plaso-NoteStore.sqlite"))
    #expect(model.entities.count == 18)
    let bounded = model.entities.flatMap(\.attributes).filter { $0.validation.minimum != nil }
    #expect(!bounded.isEmpty)
    #expect(model.entities.flatMap(\.attributes).allSatisfy { $0.validation.predicates.isEmpty })
  }
}

extension ManagedObjectModel {
  /// The model with sorted names, since an archive has no other order.
  var inOrderOfNames: ManagedObjectModel {
    var model = self
    model.entities.sort { $0.name < $1.name }
    for index in model.entities.indices {
      model.entities[index].attributes.sort { $0.name < $1.name }
      model.entities[index].relationships.sort { $0.name < $1.name }
      model.entities[index].fetchedProperties.sort { $0.name < $1.name }
    }
    return model
  }

  /// The parts of a model that a compiled model keeps: no order of properties, and no values for Xcode's generator.
  var comparable: ManagedObjectModel {
    var model = self
    model.entities = entities.sorted { $0.name < $1.name }.map { entity in
      var entity = entity
      entity.codeGenerationType = nil
      entity.usesCurrentProductModule = false
      entity.managedObjectClassName = entity.managedObjectClassName?.split(separator: ".").last.map(String.init)
      entity.attributes = entity.attributes.sorted { $0.name < $1.name }.map { attribute in
        var attribute = attribute
        attribute.usesScalarValueType = false
        attribute.isIndexed = false
        attribute.allowsCloudEncryption = false
        attribute.valueClassName = nil
        return attribute
      }
      entity.relationships.sort { $0.name < $1.name }
      entity.indexes.sort { $0.name < $1.name }
      entity.uniquenessConstraints.sort { $0.joined() < $1.joined() }
      return entity
    }
    return model
  }
}
