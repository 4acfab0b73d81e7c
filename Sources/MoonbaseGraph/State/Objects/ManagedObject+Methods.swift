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

extension ManagedObject {
  /// A to-many relationship as a mutable collection. Throws if the key is no to-many relationship.
  public final func mutableSetValue(forKey key: String) throws -> MutableObjectSet<ManagedObject> {
    MutableObjectSet(members: try Members(self, key: key, isOrdered: false))
  }

  /// An ordered relationship as a mutable collection. Throws if the key is no ordered relationship.
  public final func mutableOrderedSetValue(forKey key: String) throws -> MutableOrderedObjectSet<ManagedObject> {
    MutableOrderedObjectSet(members: try Members(self, key: key, isOrdered: true))
  }
}

extension ManagedObject {
  /// The property that a key path of a class stands for. Throws if the class does not list the key path.
  package static func property(of keyPath: AnyKeyPath, _ type: Any.Type) throws -> PropertyKeyPath {
    guard let type = type as? ManagedObject.Type else {
      throw GraphError(
        .predicateMismatch,
        message: "\(keyPath) leads from \(type), which is no managed object: a fetch reads properties of objects only")
    }
    guard let known = type.keyPaths.first(where: { $0.keyPath == keyPath }) else {
      throw GraphError(
        .unknownName,
        message:
          "\(keyPath) is no key path that \(type) declares: list it in its keyPaths, with the property that it stands for"
      )
    }
    guard known.fits(type) else {
      throw GraphError(
        .unknownName, message: "\(type).keyPaths: \(keyPath) is said to be \(known.name) of another class")
    }
    return known
  }
}

extension ManagedObject: ValueConvertible {
  /// The object's ID, which is the value of a relationship.
  public final var attributeValue: Value { .objectID(objectID) }
}

extension ManagedObject: TypedObject {}

extension ManagedObject {
  /// Whether the fast form of a rule finds a value valid.
  final func fulfills(_ rule: EntityExtension.QuickRule, slot: Slot) throws -> Bool {
    guard let context else { return false }
    let cell = try rawCell(at: slot)
    if cell.kind == .other || cell.kind == .null { return false }
    return context.isFulfilled(rule, cell, of: self)
  }
}

extension ManagedObject {
  /// The properties whose unsaved value, newer stored value and originally read value all differ.
  final func collisions(with row: Snapshot) -> [MergeConflict.Difference] {
    guard let old = snapshot, !isDeleted else { return [] }
    return changed.slots.compactMap { slot in
      let property = entity.properties[slot]
      if property.isTransient { return nil }
      if case .toMany = property.kind { return nil }
      let (original, mine, stored) = (old.values[slot], current(slot) ?? .null, row.values[slot])
      guard !original.isSame(as: stored), !mine.isSame(as: stored), !mine.isSame(as: original) else { return nil }
      return MergeConflict.Difference(property: property.name, original: original, object: mine, stored: stored)
    }
  }
}

extension ManagedObject {
  /// Notifies observers at the end of a call that changed objects.
  @inline(__always)
  final func tellObservers() {
    table._withUnsafeGuaranteedRef { table in
      guard let context = table.contextReference, context._withUnsafeGuaranteedRef({ $0.observations.hasNews }) else {
        return
      }
      context.takeUnretainedValue().tellObservers()
    }
  }
}
