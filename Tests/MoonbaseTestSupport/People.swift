public import MoonbaseGraph
public import MoonbaseModel

/// The model most tests use: people, employees and departments.
public enum People {
  /// The model as a value.
  public static func model() -> ManagedObjectModel {
    var person = EntityDescription("Person")
    var age = AttributeDescription("age", type: .integer16)
    age.isOptional = false
    age.defaultValue = 0
    age.validation.minimum = 0
    age.validation.maximum = 150
    var color = AttributeDescription("color", type: .transformable)
    color.valueTransformerName = "ColorTransformer"
    var fullName = AttributeDescription("fullName", type: .string)
    fullName.isTransient = true
    var bounds = AttributeDescription("bounds", type: .undefined)
    bounds.isTransient = true
    person.attributes = [
      AttributeDescription("firstName", type: .string), AttributeDescription("lastName", type: .string), age, color,
      fullName,
      bounds, AttributeDescription("boundsAsString", type: .string), AttributeDescription("born", type: .date),
      AttributeDescription("email", type: .string),
    ]
    person.uniquenessConstraints = [["email"]]
    let friends = RelationshipDescription.toMany("friends", destination: "Person", inverse: "friends")
    person.relationships = [.toOne("department", destination: "Department", inverse: "employees"), friends]
    var employee = EntityDescription("Employee")
    employee.superentityName = "Person"
    employee.attributes = [AttributeDescription("salary", type: .double)]
    var department = EntityDescription("Department")
    department.attributes = [AttributeDescription("name", type: .string)]
    var projects = RelationshipDescription.toMany("projects", destination: "Project", inverse: "department")
    projects.deleteRule = .cascade
    projects.isOrdered = true
    department.relationships = [.toMany("employees", destination: "Person", inverse: "department"), projects]
    var project = EntityDescription("Project")
    project.attributes = [AttributeDescription("title", type: .string)]
    project.relationships = [.toOne("department", destination: "Department", inverse: "projects")]
    return ManagedObjectModel(entities: [person, employee, department, project])
  }

  /// A coordinator over an empty in-memory store, or over the store that `wrap` makes from it.
  public static func coordinator(
    _ model: ManagedObjectModel = model(), wrap: (any PersistentStore) -> any PersistentStore = { $0 }
  ) throws -> PersistentStoreCoordinator {
    let resolved = try model.resolved()
    let coordinator = PersistentStoreCoordinator(model: resolved)
    try coordinator.add(wrap(InMemoryStore(model: resolved)))
    return coordinator
  }

  /// The model with guests of departments: a transient relationship.
  public static func modelWithGuests() -> ManagedObjectModel {
    var model = model()
    var guests = RelationshipDescription.toMany("guests", destination: "Person", inverse: "visits")
    guests.isTransient = true
    model.entities[2].relationships.append(guests)
    var visits = RelationshipDescription.toOne("visits", destination: "Department", inverse: "guests")
    visits.isTransient = true
    model.entities[0].relationships.append(visits)
    return model
  }

  /// A new context over an empty in-memory store.
  public static func context(extensions: (any ExtensionProvider)? = nil) throws -> ManagedObjectContext {
    try ManagedObjectContext(coordinator(), extensions: extensions)
  }
}
