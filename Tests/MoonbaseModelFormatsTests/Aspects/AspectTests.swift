import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

/// The table of the descriptions' aspects: each aspect is read, written and compared.
@Suite struct AspectTests {
  // MARK: Nothing is forgotten

  /// The names of a value's stored properties of a type.
  private func properties<Property>(of value: Any, _ type: Property.Type) -> [String] {
    Mirror(reflecting: value).children.compactMap { $0.value is Property ? $0.label : nil }
  }

  private func flags<Owner: Described>(of type: Owner.Type) -> [String] {
    type.aspects.filter { if case .flag = $0.field { true } else { false } }.map(\.key)
  }

  private func texts<Owner: Described>(of type: Owner.Type) -> [String] {
    type.aspects.filter { if case .text = $0.field { true } else { false } }.map(\.key)
  }

  @Test func eachFlagAndTextOfADescriptionStandsInTheTable() {
    let attribute = AttributeDescription("a", type: .string)
    #expect(properties(of: attribute, Bool.self).count == flags(of: AttributeDescription.self).count)
    let optionalTexts = properties(of: attribute, String?.self).filter { $0 != "name" }
    // Two aspects of the table are stored elsewhere: the pattern in the validation, and the Swift type in the user
    // info.
    #expect(optionalTexts.count + 2 == texts(of: AttributeDescription.self).count)
    let relationship = RelationshipDescription.toOne("r", destination: "E")
    #expect(properties(of: relationship, Bool.self).count == flags(of: RelationshipDescription.self).count)
    #expect(properties(of: EntityDescription("E"), Bool.self).count == flags(of: EntityDescription.self).count)
    #expect(properties(of: FetchRequest("E"), Bool.self).count == flags(of: FetchRequest.self).count)
  }

  @Test func eachAspectHasAModelThatSaysIt() { #expect(Self.models.count == 42) }

  // MARK: Every form says it

  private static let model = ManagedObjectModel {
    EntityDescription("Person") {
      AttributeDescription("name", type: .string)
      RelationshipDescription.toMany("friends", destination: "Person", inverse: "friends")
      FetchedPropertyDescription("all", fetchRequest: FetchRequest("Person"))
    }
  }

  /// A model for each aspect of a description, by the aspect's key.
  private static func changed<Owner: Described>(
    _ place: WritableKeyPath<ManagedObjectModel, Owner>, texts: [String: String] = [:]
  ) -> [(key: String, model: ManagedObjectModel)] {
    Owner.aspects.compactMap { aspect in
      var model = Self.model
      switch aspect.field {
      case .flag(let path, _, _): model[keyPath: place][keyPath: path].toggle()
      case .text(let path):
        guard let text = texts[aspect.key] else { return nil }
        model[keyPath: place][keyPath: path] = text
      case .number(let path): model[keyPath: place][keyPath: path] = 7
      case .limit(let path): model[keyPath: place][keyPath: path] = 7
      case .stated: return nil
      }
      return (aspect.key, model)
    }
  }

  private static let words = ["renamed_from": "before", "version_hash_modifier": "2"]

  private static var models: [(key: String, model: ManagedObjectModel)] {
    changed(
      \.entities[0].attributes[0],
      texts: words.merging([
        "class": "NSName", "transformer": "Shout", "derivation": "friends.name", "matches": "[a-z]+",
        "swift": "Status",
      ]) { $1 })
      + changed(\.entities[0].relationships[0], texts: words)
      + changed(\.entities[0].fetchedProperties[0], texts: words)
      + changed(
        \.entities[0],
        texts: words.merging(["class": "Human", "code_generation": "class", "spotlight_name": "name"]) { $1 })
      + changed(\.entities[0].fetchedProperties[0].fetchRequest)
  }

  @Test func everyAspectIsADifference() {
    for (key, model) in Self.models {
      let difference = ModelDifference(from: Self.model, to: model)
      let aspects = difference.entities.flatMap { $0.aspects + $0.properties.flatMap(\.aspects) }
      #expect(aspects.map(\.aspect) == [key])
    }
  }

  @Test func everyAspectSurvivesALuaModel() throws {
    for (key, model) in Self.models {
      #expect(try ManagedObjectModel(tree: model.tree(), file: "m.lua") == model, "\(key)")
    }
  }

  @Test func everyAspectSurvivesAnArchive() throws {
    for (key, model) in Self.models {
      let read = try ManagedObjectModel(archive: model.resolvedInPlace().archive())
      #expect(ModelDifference(from: model, to: read).isEmpty, "\(key)")
      #expect(read.warnings == [], "\(key)")
    }
  }

  /// Xcode's form has neither offset nor refresh, and refuses a model that has them.
  @Test func everyAspectSurvivesAModelOfXcodeOrIsRefused() throws {
    for (key, model) in Self.models {
      if key == "offset" || key == "refresh" {
        #expect(throws: ModelError.self) { try model.xcodeContents() }
        continue
      }
      let read = try ManagedObjectModel.read(ModelSource(Data(model.xcodeContents().utf8), name: "contents"))
      #expect(ModelDifference(from: model, to: read).isEmpty, "\(key)")
      #expect(read.warnings == [], "\(key)")
    }
  }
}

extension ManagedObjectModel {
  /// The model resolved as one of Xcode's, which may name classes that only an app has.
  fileprivate func resolvedInPlace() throws -> ResolvedModel {
    var model = self
    model.allowsUnknownClasses = true
    return try model.resolved()
  }
}
