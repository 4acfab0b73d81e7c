import MoonbaseModel

extension ManagedObject {
  final func behavior() throws -> EntityBehavior {
    guard let context else { throw invalid("was used after its context was gone or its deletion was saved") }
    return try context.behavior(of: entity)
  }

  /// The value in its attribute's type, or an error that names the attribute.
  final func checked(_ value: Value, _ slot: Int) throws -> Value {
    let property = entity.properties[slot]
    switch (property.attributeType, value) {
    case (nil, _), (_, .null), (.string, .string), (.integer64, .int), (.double, .double), (.boolean, .bool),
      (.date, .date), (.binaryData, .data), (.uuid, .uuid), (.uri, .uri):
      return value
    default: break
    }
    guard let attribute = property.attribute else { return value }
    do {
      return try attribute.checked(value)
    } catch {
      throw refused(slot, value, error.message)
    }
  }

  final func checkClass(_ value: Value, _ slot: Int, _ behavior: EntityBehavior) throws {
    guard !value.isNull, let valueClass = behavior.valueClasses[slot] else { return }
    if try !blaming(slot, { try valueClass.contains(value) }) {
      throw refused(slot, value, "its values are of class \(valueClass.name), not \(value.typeDescription)")
    }
  }

  /// Runs code of an extension; an error of its own kind keeps its kind and gains the attribute's name.
  final func blaming<Result>(_ slot: Int, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as GraphError {
      throw error
    } catch {
      let name = entity.properties[slot].name
      throw GraphError(
        .extensionFailure, "\(entity.name).\(name): \(error)", entity: entity.name, property: name, objectID: objectID,
        underlying: error)
    }
  }

  /// Runs an accessor that cannot throw: its error waits in the context and fails the next save.
  final func kept<Result>(or fallback: Result, _ body: () throws -> Result) -> Result {
    do {
      return try body()
    } catch {
      context?.keep(error)
      return fallback
    }
  }

  final func refused(_ slot: Int, _ value: Value?, _ reason: String) -> GraphError {
    let name = entity.properties[slot].name
    var error = GraphError(
      .invalidValue, "\(entity.name).\(name): \(reason)", entity: entity.name, property: name, objectID: objectID,
      value: value)
    error.reason = reason
    return error
  }

  final func invalid(_ reason: String) -> GraphError {
    GraphError(.invalidObject, "\(entity.name) \(objectID) \(reason)", entity: entity.name, objectID: objectID)
  }

  final func unknownKey(_ key: String) -> GraphError {
    let names = entity.properties.map(\.name) + entity.fetchedProperties.keys
    let hint = nearestName(to: key, among: names).map { ": did you mean \($0)?" } ?? ""
    return GraphError(
      .unknownName, "\(entity.name) has no property \(key)\(hint)", entity: entity.name, property: key,
      objectID: objectID)
  }
}
