import Moonbase
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Swift classes generated from models.
@Suite struct SwiftModelTests {
  /// The models of the examples, and those of other projects where they exist.
  private static func models() throws -> [ManagedObjectModel] {
    var models = try ["colors", "packages", "people", "series", "words"].map { name in
      try ManagedObjectModel(contentsOf: Checkout.root.appendingPathComponent("lua/examples/\(name)/model.lua"))
    }
    let fixtures =
      TestLength.fixtures.map { URL(fileURLWithPath: $0) }
      ?? Checkout.root.deletingLastPathComponent().appendingPathComponent("shared/fixtures")
    let folder = fixtures.appendingPathComponent("models")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names.sorted() where name.hasSuffix(".contents.xml") || name.hasSuffix("-momd") {
      let all = try VersionedModel(ModelSource(contentsOf: folder.appendingPathComponent(name)))
      models += all.versions.map(\.model)
    }
    return models
  }

  /// The model with class names that no other model has.
  private static func named(_ model: ManagedObjectModel, _ prefix: String) -> ManagedObjectModel {
    var model = model
    for index in model.entities.indices {
      let entity = model.entities[index]
      let name = entity.managedObjectClassName?.split(separator: ".").last.map(String.init) ?? entity.name
      model.entities[index].managedObjectClassName = prefix + name
    }
    return model
  }

  @Test(arguments: [false, true]) func theClassesOfAllModelsCompile(isPublic: Bool) throws {
    let models = try Self.models()
    #expect(models.count >= 5)
    let texts = try models.enumerated().map { index, model in
      try SwiftModel(Self.named(model, "M\(index)").resolved(), name: "M\(index)", isPublic: isPublic).text()
    }
    let options = isPublic ? ["-enable-upcoming-feature", "InternalImportsByDefault"] : []
    let check = try CompileCheck(texts.joined(separator: "\n"), options: options + ["-module-name", "Everything"])
    #expect(check.succeeded, "\(check.output.prefix(4000))")
  }

  private static let members = """
    committedValues changedValues changedValuesForCurrentEvent hasPersistentChangedValues description fireFault \
    fetchedObjects value setValue call predicateValue predicateAnswer primitiveValue setPrimitiveValue object setObject \
    objects objectIDs hasFault setObjects add remove entity objectID managedObjectContext isInserted isUpdated isDeleted \
    isFault hasChanges hash hashValue withText withBytes init hooks awakeFromInsert awakeFromFetch awake willSave didSave \
    prepareForDeletion willTurnIntoFault didTurnIntoFault validateForInsert validateForUpdate validateForDelete \
    validateValue customAccessors keyPaths mutableSetValue mutableOrderedSetValue mutableSet observe fetchRequest validate \
    debugDescription class default protocol self Self Type Protocol in is as switch repeat func var let static where \
    operator newValue oldValue get set some any await async throws rethrows deleted inserted page table state context \
    größe Ünïcode _ __ Int String Date Attribute
    """.split(separator: " ").map(String.init)

  /// Entities named like types, and properties named like members and keywords.
  private static func hostile() -> ManagedObjectModel {
    var odd = EntityDescription("Odd")
    odd.attributes = members.map { AttributeDescription($0, type: .string) }
    odd.userInfo = ["documentation": "An odd one.\n*/ not closed"]
    let types = [
      "Date", "Data", "UUID", "Decimal", "URL", "String", "Int16", "Bool", "Value", "Attribute", "ToOne", "ToMany",
      "ManagedObject", "FetchRequest", "Sequence", "PropertyKeyPath", "ManagedObjectContext", "Type_", "Any_",
    ]
    var entities = types.map { name in
      var entity = EntityDescription(name)
      entity.attributes = AttributeType.allCases.filter { $0 != .composite && $0 != .objectID }.map { type in
        var attribute = AttributeDescription("\(type.modelName)_value", type: type)
        attribute.isTransient = type == .undefined
        return attribute
      }
      return entity
    }
    entities[0].relationships = [
      .toMany("many", destination: "String", inverse: "one"), .toOne("other", destination: "Odd"),
    ]
    entities[5].relationships = [.toOne("one", destination: "Date", inverse: "many")]
    entities.append(odd)
    var child = EntityDescription("Child")
    child.superentityName = "Odd"
    child.managedObjectClassName = "App.Shared"
    child.attributes = [AttributeDescription("kind", type: .integer32)]
    child.attributes[0].isOptional = true
    child.attributes[0].usesScalarValueType = true
    var other = EntityDescription("OtherChild")
    other.superentityName = "Odd"
    other.managedObjectClassName = "App.Shared"
    other.attributes = [AttributeDescription("kind", type: .string), AttributeDescription("name", type: .string)]
    other.attributes[1].isOptional = false
    entities += [child, other]
    var model = ManagedObjectModel(entities: entities)
    model.allowsUnknownClasses = true
    model.fetchRequestTemplates = ["default": FetchRequest("Odd"), "with context": FetchRequest("Child")]
    return model
  }

  private static let use = """
    func use(_ context: Moonbase.ManagedObjectContext, _ odd: Odd, _ shared: Shared, _ date: Date, _ text: String) throws {
      odd.`default` = "a"
      odd.`class` = odd.description_
      let number: Swift.Int32 = shared.kind
      let name: Swift.String = shared.name
      let kind: Swift.String? = shared.kind_OtherChild
      date.many = [text]
      try date.addToMany(text)
      try date.removeFromMany([text])
      let born: Foundation.Date? = date.date_value
      let place: Foundation.URL? = date.uri_value
      let all: [Odd] = try context.fetch(Odd.self)
      _ = (number, name, kind, born, place, all, HostileClasses.byName, text.one)
      _ = try (HostileClasses.`default`(in: context), HostileClasses.WithContext(in: context))
    }
    """

  @Test func namesOfSwiftAndOfObjectsAreNoObstacle() throws {
    let model = try Self.hostile().resolved()
    let source = try SwiftModel(model, name: "hostile")
    let check = try CompileCheck(source.text() + Self.use, options: ["-module-name", "Hostile"])
    #expect(check.succeeded, "\(check.output.prefix(4000))")
    #expect(source.text().contains("/// An odd one.\n/// */ not closed\nclass Odd: ManagedObject {"))
    #expect(source.notes.contains("Odd: the property description is description_ in Swift, where description is taken"))
  }

  /// Derived names of methods, variables and the list of key paths do not collide.
  @Test func namesThatAreMadeOfOthersDoNotMeet() throws {
    var author = EntityDescription("Author")
    author.attributes = [AttributeDescription("keyPathsOfAuthor", type: .string)]
    author.relationships = [.toMany("books", destination: "Author"), .toMany("Books", destination: "Author")]
    var model = ManagedObjectModel(entities: [author])
    let predicate = try Predicate(format: "keyPathsOfAuthor IN {$firstName, $FirstName, $AGE}")
    model.fetchRequestTemplates = ["named": FetchRequest("Author", where: predicate)]
    let source = try SwiftModel(model.resolved(), name: "made")
    let use = """
      func use(_ author: Author, _ context: ManagedObjectContext) throws {
        try author.addTo_books(author)
        try author.addTo_Books(author)
        _ = author.keyPathsOfAuthor_
        _ = try MadeClasses.named_(firstName: "a", firstName_: "b", age: "c", in: context)
      }
      """
    let check = try CompileCheck(source.text() + use, options: ["-module-name", "Made"])
    #expect(check.succeeded, "\(check.output.prefix(4000))")
  }

  private static func kinds() throws -> SwiftModel {
    var kind = AttributeDescription("kind", type: .string).oneOf(
      "open", "two words", "", "1st", "none", "init", "class")
    kind.isOptional = false
    let levels = AttributeDescription("value", type: .integer32).oneOf(-1, 0, 1)
    let status = AttributeDescription("status", type: .string).swiftType("Status")
    var item = EntityDescription("Item")
    item.attributes = [
      kind, levels, status, AttributeDescription("Status", type: .string).oneOf("a"),
      AttributeDescription("Part", type: .string).oneOf("b"), AttributeDescription("price", type: .double).oneOf(0.5),
    ]
    var part = EntityDescription("Part")
    part.superentityName = "Item"
    part.attributes = [AttributeDescription("Kind", type: .string).oneOf("x", "x y", "xY")]
    return try SwiftModel(ManagedObjectModel(entities: [item, part]).resolved(), name: "kinds")
  }

  private static let useOfKinds = #"""
    enum Status: String, AttributeValue {
      case good
      static var defaultWhenNull: Status { .good }
    }
    func use(_ item: Item, _ part: Part, _ context: ManagedObjectContext) throws {
      let kinds: [Item.Kind] = [.open, .twoWords, .empty, .value1st, .none_, .init_, .`class`]
      item.value = .minus1
      (item.status, item.Status_, item.Part_, item.price) = (.good, Item.Status__.a, Item.Part__.b, 0.5)
      (part.kind, part.Kind_) = (.open, Part.Kind__.xY_)
      let found: [Part] = try context.fetch(Part.self, where: Part.kind == .open && Part.value == .value1)
      let items = try context.fetch(Item.self, where: Item.status == .good, sort: [Item.kind.descending])
      _ = (kinds, found, items, part[Part.kind], \Part.kind)
    }

    """#

  /// With each default isolation.
  @Test(arguments: [
    [], ["-enable-upcoming-feature", "NonisolatedNonsendingByDefault"], ["-default-isolation", "MainActor"],
    ["-default-isolation", "MainActor", "-enable-upcoming-feature", "NonisolatedNonsendingByDefault"],
  ])
  func listedValuesAndNamedTypesAreTypedProperties(_ options: [String]) throws {
    let source = try Self.kinds()
    let check = try CompileCheck(source.text() + Self.useOfKinds, options: options + ["-module-name", "Kinds"])
    #expect(check.succeeded, "\(check.output.prefix(4000))")
    #expect(source.notes.contains(#"Item.Kind: the case of "none" is none_, where the name of the value is taken"#))
  }

  @Test(arguments: [
    "Item.kind == .value1", "Item.Part_ == \"b\"", "Part.Kind_ == .xY_ && Item.kind == .open", "Item.status > 3",
  ])
  func aConditionOfAnotherTypeOrClassDoesNotCompile(_ condition: String) throws {
    let use =
      "func find(_ context: ManagedObjectContext) throws { _ = try context.fetch(Item.self, where: \(condition)) }"
    let source = try Self.kinds().text() + Self.useOfKinds + use
    let check = try CompileCheck(source, options: ["-module-name", "Kinds"])
    let line = source.split(separator: "\n", omittingEmptySubsequences: false).count
    let errors = check.output.split(separator: "\n").filter { $0.contains("source.swift:") && $0.contains(" error: ") }
    #expect(!check.succeeded && !errors.isEmpty && errors.allSatisfy { $0.contains(":\(line):") }, "\(errors)")
  }

  @Test func aTypeThatIsNoneInSwiftIsToldWithTheFix() throws {
    let status = AttributeDescription("status", type: .string).swiftType("Status?")
    var item = EntityDescription("Item")
    item.attributes = [status]
    let model = try ManagedObjectModel(entities: [item]).resolved()
    #expect {
      try SwiftModel(model, name: "m")
    } throws: {
      "\($0)".contains(#"Item.status: swift = "Status?" is no type in Swift: write its name, without ?"#)
    }
  }

  /// A Swift class cannot represent two entities, and no class may have the name of a module.
  @Test func classesThatSwiftCannotTellApartAreRefused() throws {
    func mistakes(_ entities: [(name: String, className: String, parent: String?)]) -> String {
      let descriptions = entities.map { name, className, parent in
        var entity = EntityDescription(name)
        (entity.managedObjectClassName, entity.superentityName) = (className, parent)
        return entity
      }
      do {
        _ = try SwiftModel(ManagedObjectModel(entities: descriptions).resolved(), name: "m")
        return ""
      } catch { return "\(error)" }
    }
    #expect(
      mistakes([("A", "Mod.Person", nil), ("B", "Other.Person", nil)]).contains("the name of another one, that of A"))
    #expect(
      mistakes([("P", "P", nil), ("A", "Item", nil), ("B", "Item", "P")]).contains(
        "that of A, whose parent is another one"))
    #expect(mistakes([("A", "Swift", nil)]).contains("is the name of a module in Swift"))
    // A subentity may have the class of its parent.
    #expect(mistakes([("P", "Item", nil), ("A", "Item", "P"), ("B", "Item", "A")]).isEmpty)
  }

  @Test func aClassThatIsNoNameIsToldWithTheFix() throws {
    var entity = EntityDescription("Animal")
    entity.managedObjectClassName = "Zoo.Being<T>"
    let model = try ManagedObjectModel(entities: [entity]).resolved()
    #expect {
      try SwiftModel(model, name: "m")
    } throws: {
      "\($0)" == #"Animal: "Being<T>" is no name of a class in Swift: give the entity another class in the model"#
    }
  }
}
