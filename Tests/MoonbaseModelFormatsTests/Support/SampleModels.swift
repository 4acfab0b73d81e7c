import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform

/// Models that the tests share.
enum SampleModels {
  /// A model with nearly every feature.
  static var rich: ManagedObjectModel {
    var model = ManagedObjectModel(entities: [being, person, employee, department])
    model.versionIdentifiers = ["1"]
    model.configurations = ["Cloud": ["Department"], "Local": ["Department", "Employee", "Person"]]
    var request = FetchRequest("Person")
    request.fetchLimit = 10
    request.sortDescriptors = [
      SortDescriptor("lastName", ascending: false),
      SortDescriptor("age", comparator: .localizedStandardCompare),
    ]
    request.predicate = .comparison(.init(.keyPath("age"), .greaterThan, .variable("AGE")))
    model.fetchRequestTemplates = ["tenPeople": request]
    return model
  }

  /// A model with features that Core Data's archives cannot represent.
  static var unusual: ManagedObjectModel {
    var thing = EntityDescription("Thing")
    thing.codeGenerationType = "category"
    thing.coreSpotlightDisplayNameExpression = "title"
    thing.userInfo = ["list": [1, 2.5, "x", ["deep": true]], "data": .data(Data([1, 2])), "": ""]
    var title = AttributeDescription("title", type: .string)
    title.usesScalarValueType = true
    title.allowsCloudEncryption = true
    title.valueClassName = "NSString"
    var value = AttributeDescription("value", type: .transformable)
    value.valueClassName = "NSObject"
    var odd = AttributeDescription("odd", type: .integer64)
    odd.derivationExpression = "parts.@count + 1"
    thing.attributes = [title, value, odd]
    thing.relationships = [
      .toMany("parts", destination: "Thing", inverse: "whole"), .toOne("whole", destination: "Thing", inverse: "parts"),
    ]
    var index = FetchIndexDescription("byTitle", elements: [.init("title"), .init("lowercase:(title)")])
    index.elements[1].isExpression = true
    index.elements[1].expressionType = "String"
    index.partialIndexPredicate = "title!='x'"
    thing.indexes = [index, FetchIndexDescription("broken", elements: [.init("title")])]
    thing.indexes[1].partialIndexPredicate = "title !"
    var model = ManagedObjectModel(entities: [thing])
    // Xcode's compiler accepts such a derivation, and so does a model that comes from Xcode.
    model.allowsUnknownClasses = true
    model.fetchRequestTemplates = ["all": everythingAFetchSays, "plain": FetchRequest("Thing")]
    return model
  }

  private static var everythingAFetchSays: FetchRequest {
    var request = FetchRequest("Thing")
    request.predicate = .comparison(
      .init(.assignment("v", .keyPath("title")), .equal, .conditional(.constant(true), .variable("v"), .anyKey)))
    request.sortDescriptors = [SortDescriptor("title", ascending: false, comparator: .localizedCaseInsensitiveCompare)]
    request.fetchLimit = 1
    request.fetchOffset = 2
    request.fetchBatchSize = 3
    request.includesSubentities = false
    request.includesPendingChanges = false
    request.includesPropertyValues = false
    request.returnsObjectsAsFaults = false
    request.shouldRefreshRefetchedObjects = true
    request.returnsDistinctResults = true
    request.relationshipKeyPathsForPrefetching = ["parts", "whole.parts"]
    request.resultType = .dictionaries
    request.propertiesToFetch = [
      FetchColumn("title"),
      FetchColumn("n", expression: .function("count:", [.keyPath("odd")]), resultType: .integer32),
      FetchColumn("whole.title"), FetchColumn("sum", expression: .keyPath("@sum.odd")),
    ]
    request.propertiesToGroupBy = ["title", "whole.title"]
    request.havingPredicate = .comparison(.init(.keyPath("n"), .greaterThan, .constant(1)))
    return request
  }

  private static var being: EntityDescription {
    var being = EntityDescription("Being")
    being.isAbstract = true
    being.attributes = [AttributeDescription("born", type: .date)]
    being.attributes[0].validation.minimum = .date(Date(timeIntervalSinceReferenceDate: -4_765_132_800))
    being.attributes[0].defaultValue = .date(Date(timeIntervalSinceReferenceDate: 12.5))
    return being
  }

  private static var person: EntityDescription {
    var person = EntityDescription("Person")
    person.superentityName = "Being"
    person.managedObjectClassName = "Person"
    person.renamingIdentifier = "Human"
    person.versionHashModifier = "2"
    person.userInfo = ["purpose": "test", "level": "3"]
    var firstName = AttributeDescription("firstName", type: .string)
    firstName.renamingIdentifier = "name"
    var lastName = AttributeDescription("lastName", type: .string)
    lastName.isOptional = false
    lastName.validation.minimumLength = 1
    lastName.validation.maximumLength = 80
    lastName.validation.regularExpression = "[^@]+"
    lastName.defaultValue = "Müller & \"Söhne\" <x>"
    var age = AttributeDescription("age", type: .integer16)
    age.isOptional = false
    age.defaultValue = 0
    age.validation.minimum = 0
    age.validation.maximum = 150
    age.usesScalarValueType = true
    var weight = AttributeDescription("weight", type: .double)
    weight.defaultValue = 70.5
    var salary = AttributeDescription("salary", type: .decimal)
    salary.defaultValue = .decimal(Decimal(string: "-1234567890123456.789") ?? 0)
    var active = AttributeDescription("active", type: .boolean)
    active.defaultValue = true
    active.versionHashModifier = "a"
    var photo = AttributeDescription("photo", type: .binaryData)
    photo.allowsExternalBinaryDataStorage = true
    photo.allowsCloudEncryption = true
    var id = AttributeDescription("id", type: .uuid)
    id.preservesValueInHistoryOnDeletion = true
    id.isIndexedBySpotlight = true
    var home = AttributeDescription("home", type: .uri)
    home.userInfo = ["kind": "web"]
    var color = AttributeDescription("favoriteColor", type: .transformable)
    color.valueTransformerName = "ColorTransformer"
    color.valueClassName = "Color"
    var bounds = AttributeDescription("bounds", type: .undefined)
    bounds.isTransient = true
    var count = AttributeDescription("friendCount", type: .integer64)
    count.derivationExpression = "friends.@count"
    person.attributes = [
      firstName, lastName, age, weight, salary, active, photo, id, home, color, bounds, count,
    ]
    var friends = RelationshipDescription.toMany("friends", destination: "Person", inverse: "friends")
    friends.maxCount = 500
    friends.isOrdered = true
    var department = RelationshipDescription.toOne("department", destination: "Department", inverse: "people")
    department.isOptional = false
    department.minCount = 1
    department.userInfo = ["a": "b"]
    person.relationships = [department, friends]
    person.uniquenessConstraints = [["firstName", "lastName"], ["id"]]
    var index = FetchIndexDescription("byName", elements: [.init("lastName"), .init("age")])
    index.elements[1].isAscending = false
    person.indexes = [index]
    return person
  }

  private static var employee: EntityDescription {
    var employee = EntityDescription("Employee")
    employee.superentityName = "Person"
    employee.attributes = [AttributeDescription("number", type: .integer32)]
    employee.attributes[0].isOptional = false
    return employee
  }

  private static var department: EntityDescription {
    var department = EntityDescription("Department")
    department.attributes = [AttributeDescription("name", type: .string)]
    var people = RelationshipDescription.toMany("people", destination: "Person", inverse: "department")
    people.deleteRule = .cascade
    people.renamingIdentifier = "staff"
    department.relationships = [people]
    department.fetchedProperties = [FetchedPropertyDescription("everybody", fetchRequest: FetchRequest("Person"))]
    department.fetchedProperties[0].userInfo = ["since": "1990"]
    department.fetchedProperties[0].fetchRequest.predicate = everybody
    return department
  }

  /// `born > $FETCHED_PROPERTY.userInfo.since AND department == $FETCH_SOURCE AND NOT firstName CONTAINS[cd] "x"`.
  private static var everybody: MoonbaseModel.Predicate {
    .and([
      .comparison(
        .init(.keyPath("born"), .greaterThan, .keyPath(.variable("FETCHED_PROPERTY"), ["userInfo", "since"]))),
      .comparison(.init(.keyPath("department"), .equal, .variable("FETCH_SOURCE"))),
      .not(
        .comparison(
          .init(
            .keyPath("firstName"), .contains, .constant("x"), options: [.caseInsensitive, .diacriticInsensitive]))),
    ])
  }
}
