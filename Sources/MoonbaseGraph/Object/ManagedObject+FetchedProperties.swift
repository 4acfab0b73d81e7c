import MoonbaseModel

/// Fetched properties: each access runs a fetch with the object as `$FETCH_SOURCE`.
///
/// Predicates of fetched properties may use a key path behind `$FETCH_SOURCE`, for example `city ==
/// $FETCH_SOURCE.city`.
extension ManagedObject {
  /// The current objects of a fetched property, with unsaved changes considered.
  ///
  /// In its predicate, `$FETCH_SOURCE` is this object and `$FETCHED_PROPERTY` the property, whose `userInfo` has the
  /// entries of the model. Throws for an unknown name, and the errors of a fetch.
  public final func fetchedObjects(forKey key: String) throws -> [ManagedObject] {
    guard let property = entity.fetchedProperties[key] else {
      throw GraphError.unknownProperty(key, of: entity, id: objectID)
    }
    guard let context else { throw detachedError }
    var request = property.fetchRequest
    request.predicate = try request.predicate.map { try filled($0, of: property, in: context) }
    return try context.fetch(request)
  }

  /// The value of a property without a slot. A list of object IDs. Throws `.unknownName` for an unknown property.
  final func fetchedValue(forKey key: String) throws -> Value {
    .list(try fetchedObjects(forKey: key).map { .objectID($0.objectID) })
  }

  /// The predicate of a fetched property with its variables replaced. Throws for a key path that cannot be evaluated.
  private func filled(
    _ predicate: Predicate, of property: FetchedPropertyDescription, in context: ManagedObjectContext
  ) throws -> Predicate {
    let description: Value = ["name": .string(property.name), "userInfo": .map(property.userInfo)]
    let withSource = try predicate.substituting { (name, path) throws -> Expression in
      guard name == "FETCH_SOURCE" else { return path.isEmpty ? .variable(name) : .keyPath(.variable(name), path) }
      guard !path.isEmpty else { return .constant(.objectID(objectID)) }
      let expression = Expression.keyPath(.evaluatedObject, path)
      return .value(try CompiledExpression(expression, entity: entity, in: context.model).value(self))
    }
    return try withSource.substituting(["FETCHED_PROPERTY": description])
  }
}
