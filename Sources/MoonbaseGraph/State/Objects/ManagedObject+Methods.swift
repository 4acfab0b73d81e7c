public import MoonbaseModel
import MoonbasePlatform

/// A method that an extension gives to the objects of an entity.
package struct EntityMethod {
  /// Calls the method.
  package let call: EntityExtension.Method
  /// Identifies the method to its maker.
  package let origin: AnyObject?
}

/// Methods that extensions, in Swift or Lua, give to objects.
extension ManagedObject {
  /// Calls a method that an extension declares for the object's entity or a parent entity.
  ///
  /// ```swift
  /// let address = try person.call("full_address", ", ")
  /// ```
  ///
  /// A method of a script receives objects in place of arguments that are object IDs, and an object that it returns is
  /// converted to its ID. Throws `.unknownName` if no extension has the method, and `.extensionFailure` with the
  /// method's name for an error of the method.
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

  /// The method with a name; nil if no extension declares it.
  package final func method(_ name: String) throws -> EntityMethod? { try behavior().methods[name] }

  /// The names of all methods that extensions declare for the object.
  package final func methodNames() throws -> [String] { try behavior().methods.keys.sorted() }

  /// The error for a method that no extension declares.
  package final func unknownMethod(_ name: String) throws -> GraphError {
    let known = try methodNames()
    let hint = suggestion(for: name, among: known)
    let advice = known.isEmpty ? ": no extension gives it any" : hint
    return GraphError(
      .unknownName, message: "\(entity.name) has no method \(name.asName)\(advice)", entity: entity.name,
      objectID: objectID)
  }
}
