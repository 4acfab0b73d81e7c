public import MoonbaseModel
import MoonbasePlatform

/// A method that an extension gives to the objects of an entity.
package struct EntityMethod {
  /// Calls it.
  package let call: EntityExtension.Method
  /// The key by which the maker of the method finds it.
  package let origin: AnyObject?
}

/// Methods that extensions, in Swift or Lua, give to objects.
extension ManagedObject {
  /// Calls a method that an extension declares for the object's entity, or for one above it.
  ///
  /// ```swift
  /// let address = try person.call("full_address", ", ")
  /// ```
  ///
  /// A method of a script gets an object in the place of each argument that is the ID of one, and an object that it
  /// returns comes as its ID. Throws `GraphError` with `.unknownName` for a method that no extension has, with
  /// `.extensionFailure` and the name of the method for what it raised.
  @discardableResult
  public final func call(_ name: String, _ arguments: Value...) throws -> Value {
    try call(name, with: arguments)
  }

  /// Calls a method that an extension declares, with a list of arguments.
  @discardableResult
  public final func call(_ name: String, with arguments: [Value]) throws -> Value {
    guard let method = try method(name) else { throw try unknownMethod(name) }
    return try running("method \(name)") { try method.call(arguments, self) }
  }

  /// The method of a name; nil where no extension declares one.
  package final func method(_ name: String) throws -> EntityMethod? { try behavior().methods[name] }

  /// The names of all methods that extensions declare for the object.
  package final func methodNames() throws -> [String] { try behavior().methods.keys.sorted() }

  /// The error of a method that no extension declares.
  package final func unknownMethod(_ name: String) throws -> GraphError {
    let known = try methodNames()
    let hint = suggestion(for: name, among: known)
    let advice = known.isEmpty ? ": no extension gives it any" : hint
    return GraphError(
      .unknownName, message: "\(entity.name) has no method \(name.asName)\(advice)", entity: entity.name,
      objectID: objectID)
  }
}
