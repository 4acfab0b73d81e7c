public import MoonbaseGraph
public import MoonbaseModel

/// The model most tests use: people, employees and departments.
public enum People {
  /// The model as a value.
  public static func model() -> ManagedObjectModel {
    var person = EntityDescription("Person")
    var age = AttributeDescription("age", .integer16)
    age.isOptional = false
    age.defaultValue = 0
    age.validation.minimum = 0
    age.validation.maximum = 150
    var color = AttributeDescription("color", .transformable)
    color.valueTransformerName = "ColorTransformer"
    var fullName = AttributeDescription("fullName", .string)
    fullName.isTransient = true
    var bounds = AttributeDescription("bounds", .undefined)
    bounds.isTransient = true
    person.attributes = [
      AttributeDescription("firstName", .string), AttributeDescription("lastName", .string), age, color, fullName,
      bounds, AttributeDescription("boundsAsString", .string), AttributeDescription("born", .date),
      AttributeDescription("email", .string),
    ]
    person.uniquenessConstraints = [["email"]]
    let friends = RelationshipDescription.toMany("friends", "Person", inverse: "friends")
    person.relationships = [.toOne("department", "Department", inverse: "employees"), friends]
    var employee = EntityDescription("Employee")
    employee.superentityName = "Person"
    employee.attributes = [AttributeDescription("salary", .double)]
    var department = EntityDescription("Department")
    department.attributes = [AttributeDescription("name", .string)]
    var projects = RelationshipDescription.toMany("projects", "Project", inverse: "department")
    projects.deleteRule = .cascade
    projects.isOrdered = true
    department.relationships = [.toMany("employees", "Person", inverse: "department"), projects]
    var project = EntityDescription("Project")
    project.attributes = [AttributeDescription("title", .string)]
    project.relationships = [.toOne("department", "Department", inverse: "projects")]
    return ManagedObjectModel(entities: [person, employee, department, project])
  }

  /// A coordinator over an empty in-memory store, or over what `wrap` makes of it.
  public static func coordinator(
    _ model: ManagedObjectModel = model(), wrap: (any PersistentStore) -> any PersistentStore = { $0 }
  ) throws -> PersistentStoreCoordinator {
    let resolved = try model.resolved()
    let coordinator = PersistentStoreCoordinator(model: resolved)
    coordinator.add(wrap(try InMemoryStore(model: resolved)))
    return coordinator
  }

  /// A context of its own over an empty in-memory store.
  public static func context(extensions: (any ExtensionProvider)? = nil) throws -> ManagedObjectContext {
    try ManagedObjectContext(coordinator(), extensions: extensions)
  }
}
