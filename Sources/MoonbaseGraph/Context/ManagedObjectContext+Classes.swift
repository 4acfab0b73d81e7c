public import MoonbaseModel

/// Lookup of entities by the Swift class of their objects.
extension ManagedObjectContext {
  /// The entity whose objects have a class; among several, the entity from which all others inherit.
  ///
  /// Throws `.unknownName` if no entity has the class, or if several have it without a common ancestor among them.
  public func entity(of type: ManagedObject.Type) throws -> ResolvedEntity {
    if let known = entitiesByClass[ObjectIdentifier(type)] { return known }
    try checkOpen()
    let found = model.entities.filter { coordinator.objectClass(of: $0) == type }
    guard let top = found.first(where: { candidate in found.allSatisfy { $0.isKind(of: candidate) } }) else {
      throw Self.noEntity(of: type, among: found)
    }
    if confinement == nil { entitiesByClass[ObjectIdentifier(type)] = top }
    return top
  }

  /// Lists the entities if there are several.
  private static func noEntity(of type: ManagedObject.Type, among found: [ResolvedEntity]) -> GraphError {
    let name = String(describing: type)
    guard found.isEmpty else {
      let names = found.map(\.name).sorted().joined(separator: ", ")
      return GraphError(
        .unknownName, message: "\(name) is the class of several entities, \(names): name the one that is meant")
    }
    return GraphError(
      .unknownName,
      message:
        "no entity of the model has the class \(name): name it in the model (managedObjectClassName), and give it to "
        + "the container (classes:) or to the coordinator (register(_:forClassName:))")
  }

  /// Throws if a request may find objects of another class. The code is `.invalidObject`. Requests for `ManagedObject`
  /// find anything.
  func checkClass<Object: ManagedObject>(_ wanted: Object.Type, of request: FetchRequest) throws {
    guard wanted != ManagedObject.self else { return }
    for index in try entity(request.entityName).indexes(includingSubentities: request.includesSubentities) {
      let entity = model.entities[index]
      let type = try behavior(of: entity).objectClass
      if !(type is Object.Type) { throw Self.otherClass(type, of: entity, insteadOf: wanted) }
    }
  }

  /// The error for such a request.
  private static func otherClass(
    _ type: ManagedObject.Type, of entity: ResolvedEntity, insteadOf wanted: ManagedObject.Type
  ) -> GraphError {
    GraphError(
      .invalidObject,
      message: "\(entity.name): its objects are of the class \(type), which is no \(wanted): ask for another class",
      entity: entity.name)
  }

  /// Casts an object to its class. Throws if a subentity has a class that does not inherit from it. The code is
  /// `.invalidObject`.
  func typed<Object: ManagedObject>(_ object: ManagedObject) throws -> Object {
    if let object = object as? Object { return object }
    throw GraphError(
      .invalidObject,
      message:
        "\(object.entity.name): its objects are of the class \(type(of: object)), which is no \(Object.self): give the "
        + "entity a class that inherits from it", entity: object.entity.name, objectID: object.objectID)
  }
}

/// Entities of Swift classes.
extension TypedObject where Self: ManagedObject {
  /// The entity of the class in the model of a context: see `ManagedObjectContext.entity(of:)`.
  public static func entity(in context: ManagedObjectContext) throws -> ResolvedEntity {
    try context.entity(of: Self.self)
  }
}
