import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct ModelCheckerTests {
  private func problem(_ model: ManagedObjectModel) -> String {
    do {
      _ = try model.resolved()
      return "none"
    } catch {
      return error.message
    }
  }

  private func problem(@EntityBuilder _ elements: () -> [any EntityElement]) -> String {
    problem(ManagedObjectModel(entities: [EntityDescription("Person", elements)]))
  }

  @Test func namesAreUnique() {
    #expect(
      problem(ManagedObjectModel(entities: [EntityDescription("A"), EntityDescription("A")]))
        == "entity A is declared twice: remove or rename one of them")
    #expect(
      problem {
        AttributeDescription("a", type: .string)
        RelationshipDescription.toOne("a", destination: "Person")
      } == "entity Person declares a twice: rename one of them")
    let model = ManagedObjectModel {
      EntityDescription("Person") { AttributeDescription("name", type: .string) }
      EntityDescription("Employee", parent: "Person") { AttributeDescription("name", type: .string) }
    }
    #expect(problem(model) == "entity Employee declares name and inherits it from Person: rename one of them")
  }

  /// A mistake is reported once, and not for each subentity.
  @Test func aMissingParentIsToldOnce() {
    let model = ManagedObjectModel(entities: [
      EntityDescription("C", parent: "B") {}, EntityDescription("B", parent: "A") {},
      EntityDescription("D", parent: "B") {},
    ])
    let error = #expect(throws: ModelError.self) { try model.resolved() }
    #expect(error?.message.hasPrefix("entity B: its parent A is not in the model") == true && error?.others == [])
  }

  /// The parameterless methods of `NSObject` and `NSManagedObject` (managed object model guide).
  private static let refusedNames = """
    attributeKeys autorelease awakeFromFetch awakeFromInsert changedValues changedValuesForCurrentEvent class \
    classDescription className classForCoder classForKeyedArchiver classForArchiver copy dealloc debugDescription \
    description didSave didTurnIntoFault entity faultingState finalize hasChanges hasFault hasPersistentChangedValues \
    hash init isDeleted isFault isInserted isProxy isUpdated managedObjectContext mutableCopy objectID \
    observationInfo prepareForDeletion release retain retainCount scriptingProperties self superclass toManyRelationshipKeys \
    toOneRelationshipKeys willSave willTurnIntoFault zone
    """.split(separator: " ").map(String.init)

  @Test(arguments: refusedNames)
  func namesThatCoreDataRefusesAreRefused(name: String) {
    #expect(problem { AttributeDescription(name, type: .string) }.contains("no property may be called \(name)"))
    var model = ManagedObjectModel { EntityDescription("Person") { AttributeDescription(name, type: .string) } }
    model.allowsUnknownClasses = true
    let warnings = (try? model.resolved())?.warnings ?? []
    #expect(warnings.count == 1 && warnings[0].hasPrefix("Person.\(name) has the name of a method"), "\(warnings)")
  }

  @Test(arguments: ["a\0b", "a\nb", "a b", "1x", "a.b", "a-b", "\"", "😀"])
  func namesAreIdentifiers(name: String) {
    #expect(problem { AttributeDescription(name, type: .string) }.contains("a name consists of letters"))
    #expect(
      problem(ManagedObjectModel(entities: [EntityDescription(name)]))
        == "entity \(name.debugDescription): a name consists of letters, digits and underscores and does not begin with a digit: rename it"
    )
    #expect(problem(ManagedObjectModel(entities: [EntityDescription("")])) == "an entity has no name: give it one")
  }

  @Test(arguments: ["a", "_a", "größe", "名前", "a1", "Δ2"])
  func lettersOfAllScriptsMakeNames(name: String) {
    #expect(problem(ManagedObjectModel(entities: [EntityDescription(name)])) == "none")
  }

  @Test(arguments: [
    "id", "name", "value", "count", "save", "changed", "delete", "Description", "Hash", "insert", "fetch", "context",
    "primitiveValue", "deleted", "inserted", "updated", "fault",
  ])
  func namesThatCoreDataTakesAreTaken(name: String) {
    #expect(problem { AttributeDescription(name, type: .string) } == "none")
  }

  @Test func inheritanceHasNoCyclesAndNoGaps() {
    var (a, b) = (EntityDescription("A"), EntityDescription("B"))
    a.superentityName = "B"
    b.superentityName = "A"
    #expect(
      problem(ManagedObjectModel(entities: [a, b]))
        == "entity A inherits from itself: B has the parent A, give it another")
    b.superentityName = "Aa"
    #expect(
      problem(ManagedObjectModel(entities: [a, b])).hasSuffix("its parent Aa is not in the model; did you mean A?"))
  }

  @Test func inheritanceDeeperThanAPersonWritesIsRefused() {
    let entities = (0..<5000).map { number in
      EntityDescription("E\(number)").with { $0.superentityName = number == 0 ? nil : "E\(number - 1)" }
    }
    #expect(problem(ManagedObjectModel(entities: entities)).contains("ancestors"))
  }

  @Test func inheritanceCanBeDeclaredFromTheParent() throws {
    let person = EntityDescription("Person").with { $0.subentityNames = ["Employee"] }
    let model = ManagedObjectModel(entities: [person, EntityDescription("Employee")])
    let resolved = try model.resolved()
    #expect(resolved.entity("Employee")?.parent == resolved.entity("Person")?.index)
    #expect(resolved.description.entitiesByName["Employee"]?.superentityName == "Person")
    var wrong = model
    wrong.entities[1].superentityName = "Other"
    wrong.entities.append(EntityDescription("Other"))
    #expect(problem(wrong) == "entity Employee is a subentity of Person and of Other: it can have one parent")
  }

  @Test func relationshipsLeadSomewhereAndBack() {
    #expect(
      problem { RelationshipDescription.toOne("boss", destination: "Persn") }
        == "Person.boss: its destination Persn is not in the model; did you mean Person?")
    #expect(
      problem {
        RelationshipDescription.toOne("boss", destination: "Person", inverse: "staf")
        RelationshipDescription.toMany("staff", destination: "Person", inverse: "boss")
      } == "Person.boss: its inverse staf is not a relationship of Person; did you mean staff?")
    #expect(
      problem {
        RelationshipDescription.toOne("boss", destination: "Person", inverse: "staff")
        RelationshipDescription.toMany("staff", destination: "Person", inverse: "staff")
      } == "Person.boss: its inverse staff names staff as its own inverse")
    #expect(
      problem { RelationshipDescription.toMany("staff", destination: "Person").count(atLeast: 3, atMost: 2) }
        == "Person.staff: its least count 3 does not fit its greatest 2")
    #expect(
      problem { RelationshipDescription.toMany("staff", destination: "Person").count(atLeast: 0, atMost: 1 << 40) }
        == "Person.staff: its counts do not fit 32 bits: 0 stands for no bound")
  }

  @Test func anInverseLeadsBack() {
    let model = ManagedObjectModel {
      EntityDescription("A") { RelationshipDescription.toOne("b", destination: "B", inverse: "c") }
      EntityDescription("B") { RelationshipDescription.toOne("c", destination: "C", inverse: "b") }
      EntityDescription("C") { RelationshipDescription.toOne("b", destination: "B", inverse: "c") }
    }
    #expect(problem(model) == "A.b: its inverse c leads to C, not back to A")
  }

  @Test func attributesCanBeStored() {
    #expect(problem { AttributeDescription("a", type: .undefined) }.contains("has no type"))
    #expect(problem { AttributeDescription("a", type: .undefined).transient() } == "none")
    #expect(problem { AttributeDescription("a", type: .objectID) }.contains("is an object ID"))
  }

  @Test func valuesFitTheirType() {
    #expect(
      problem { AttributeDescription("a", type: .integer16).defaulting(to: 70_000) }.contains("70000 does not fit"))
    #expect(problem { AttributeDescription("a", type: .date).defaulting(to: "soon") } != "none")
    #expect(
      problem { AttributeDescription("a", type: .integer16).between(3, 2) }.contains("a minimum above its maximum"))
    #expect(problem { AttributeDescription("a", type: .string).matching("[") }.contains("no regular expression"))
    #expect(problem { AttributeDescription("a", type: .string).oneOf("x", 3) } != "none")
  }

  @Test func valuesAreResolvedInTheirTypes() throws {
    let model = ManagedObjectModel {
      EntityDescription("A") {
        AttributeDescription("date", type: .date).defaulting(to: "2001-01-01T00:00:10Z").between(
          "1990-01-01", "2010-01-01")
        AttributeDescription("double", type: .double).defaulting(to: 3)
        AttributeDescription("decimal", type: .decimal).oneOf("1.5", 2)
      }
    }
    let entity = try #require(try model.resolved().entity("A"))
    let date = Value.date(Date(timeIntervalSinceReferenceDate: 10))
    #expect(Array(entity.initialValues) == [date, .double(3), .null])
    #expect(entity.description.attributes[0].validation.minimum?.typeDescription == "date")
    #expect(
      entity.description.attributes[2].validation.allowedValues == [.decimal(Decimal(15) / 10), .decimal(Decimal(2))])
  }

  @Test func constraintsAndIndexesNameWhatIsThere() {
    #expect(
      problem {
        AttributeDescription("email", type: .string)
        UniquenessConstraint("emial")
      }.hasSuffix("did you mean email?"))
    #expect(
      problem {
        AttributeDescription("email", type: .string)
        FetchIndexDescription("byMail", on: "mail")
      }.contains("its index byMail names mail"))
  }

  @Test func fetchesNameWhatIsThere() {
    #expect(
      problem { FetchedPropertyDescription("recent", fetchRequest: FetchRequest("Persn")) }
        == "Person.recent: its entity Persn is not in the model; did you mean Person?")
    var model = ManagedObjectModel(entities: [EntityDescription("Person")])
    model.fetchRequestTemplates = ["old": FetchRequest("Elder")]
    #expect(problem(model) == "fetch request old: its entity Elder is not in the model")
  }

  @Test func rulesFitTheKindOfValue() {
    func model(_ type: AttributeType, _ change: (inout AttributeValidation) -> Void) -> ManagedObjectModel {
      var attribute = AttributeDescription("x", type: type)
      change(&attribute.validation)
      return ManagedObjectModel { EntityDescription("A") { attribute } }
    }
    #expect(problem(model(.string) { $0.minimum = "a" }).contains("a minimum or maximum is for numbers and dates"))
    #expect(problem(model(.uuid) { $0.maximumLength = 3 }).contains("lengths and patterns are for strings"))
    #expect(problem(model(.integer16) { $0.regularExpression = "x" }).contains("lengths and patterns are for strings"))
    #expect(problem(model(.date) { $0.minimum = .date(Date(timeIntervalSinceReferenceDate: .infinity)) }) != "none")
    var foreign = model(.string) { $0.minimum = "a" }
    foreign.allowsUnknownClasses = true
    #expect(problem(foreign) == "none")
  }

  @Test func relationshipsDoNotCrossStores() {
    var model = ManagedObjectModel {
      EntityDescription("A") { RelationshipDescription.toOne("b", destination: "B") }
      EntityDescription("B") { AttributeDescription("x", type: .string) }
    }
    model.configurations = ["One": ["A"], "Two": ["B"]]
    #expect(problem(model).contains("relationships cannot cross stores"))
    model.configurations = ["One": ["A", "B"], "Two": ["B"]]
    #expect(problem(model) == "none")
    model.configurations = ["One": ["a"]]
    #expect(problem(model) == "configuration One names a, which is not an entity of the model; did you mean A?")
  }

  @Test func errorsNameThePlace() {
    var model = ManagedObjectModel { EntityDescription("A") { RelationshipDescription.toOne("b", destination: "B") } }
    model.entities[0].relationships[0].location = SourceLocation(file: "m.lua", line: 7)
    let error = #expect(throws: ModelError.self) { try model.resolved() }
    #expect(error?.description.hasPrefix("m.lua:7: A.b: its destination B") == true)
  }
}

/// Checking the expressions of models.
@Suite struct ModelExpressionCheckerTests {
  private func model(_ change: (inout ManagedObjectModel) -> Void = { _ in }) -> ManagedObjectModel {
    var model = ManagedObjectModel {
      EntityDescription("Person") {
        AttributeDescription("name", type: .string)
        RelationshipDescription.toMany("friends", destination: "Person", inverse: "friends")
        FetchedPropertyDescription("recent", fetchRequest: FetchRequest("Person"))
        AttributeDescription("count", type: .integer64).defaulting(to: 0).with {
          $0.derivationExpression = "friends.@count"
        }
      }
    }
    change(&model)
    return model
  }

  private func predicate(_ text: String) throws -> MoonbaseModel.Predicate { try .init(format: text) }

  @Test func predicatesNameWhatIsThere() throws {
    let wrong = try predicate("nam == $FETCH_SOURCE.name")
    let error = #expect(throws: ModelError.self) {
      try model { $0.entities[0].fetchedProperties[0].fetchRequest.predicate = wrong }.resolved()
    }
    #expect(error?.code == .invalidModel)
    #expect(error?.message.hasPrefix("Person.recent: ") == true)
    #expect(error?.message.contains("did you mean name?") == true)
    let right = try predicate("name == $FETCH_SOURCE.name")
    _ = try model { $0.entities[0].fetchedProperties[0].fetchRequest.predicate = right }.resolved()
  }

  @Test func templatesNameWhatIsThere() throws {
    let wrong = FetchRequest("Person", where: try predicate("friends.name == $NAME"))
    let error = #expect(throws: ModelError.self) { try model { $0.fetchRequestTemplates["t"] = wrong }.resolved() }
    #expect(error?.message.hasPrefix("fetch request t: ") == true)
  }

  @Test(arguments: [
    ("name", AttributeType.integer64), ("friends.@count", .integer64), ("friends.name", .integer64), ("now()", .date),
    ("uppercase:(name)", .string), ("canonical:(name)", .string),
  ])
  func aDerivationThatMeansSomethingIsTaken(text: String, type: AttributeType) throws {
    _ = try derived(text, type).resolved()
  }

  @Test(arguments: [
    ("now()", AttributeType.string), ("uppercase:(name)", .integer64), ("friends.@count", .date),
  ])
  func aDerivationThatGivesAnotherTypeIsRefused(text: String, type: AttributeType) throws {
    let error = #expect(throws: ModelError.self) { try derived(text, type).resolved() }
    #expect(error?.message.hasPrefix("Person.count: its derivation \(text) gives ") == true)
  }

  private func derived(_ text: String, _ type: AttributeType) -> ManagedObjectModel {
    model {
      $0.entities[0].attributes[1] = AttributeDescription("count", type: type)
      $0.entities[0].attributes[1].derivationExpression = text
    }
  }

  @Test(arguments: ["nam", "friend.@count", "friends.nam.@sum", "name +", "shout:(name)"])
  func aDerivationThatMeansNothingIsRefused(text: String) throws {
    let wrong = model { $0.entities[0].attributes[1].derivationExpression = text }
    #expect(throws: ModelError.self) { try wrong.resolved() }
    var foreign = wrong
    foreign.allowsUnknownClasses = true
    #expect(try foreign.resolved().warnings.contains { $0.contains("Person.count") })
  }

  /// A linear search for each inverse would be quadratic.
  @Test func inversesAreFoundInATimeInProportionToTheirNumber() throws {
    func seconds(_ count: Int) throws -> Double {
      var one = EntityDescription("One")
      var other = EntityDescription("Other")
      for number in 0..<count {
        one.relationships.append(.toOne("r\(number)", destination: "Other", inverse: "s\(number)"))
        other.relationships.append(.toMany("s\(number)", destination: "One", inverse: "r\(number)"))
      }
      let model = ManagedObjectModel(entities: [one, other])
      return try processorSeconds { _ = try model.resolved() }
    }
    #expect(try seconds(8000) < 16 * seconds(1000))
  }
}
