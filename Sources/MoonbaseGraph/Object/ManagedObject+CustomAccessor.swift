public import MoonbaseModel

extension ManagedObject {
  /// A property accessor of a subclass, used by access by key, by predicates and by scripts.
  ///
  /// A subclass lists its accessors in `customAccessors`. Access by key then runs the same code as access in Swift.
  public struct CustomAccessor {
    /// The name of the property.
    let key: String
    /// Reads the property of an object of the class.
    let get: (ManagedObject) throws -> Value
    /// Sets the property.
    let set: (ManagedObject, Value) throws -> Void

    /// Makes an accessor for objects of a subclass. Both closures may throw; the caller receives their errors. An
    /// object of another class throws `.invalidObject`.
    public init<Owner: ManagedObject>(
      _ key: String, of type: Owner.Type = Owner.self, get: @escaping (Owner) throws -> Value,
      set: @escaping (Owner, Value) throws -> Void
    ) {
      self.key = key
      self.get = { object in try get(Self.cast(object, key: key)) }
      self.set = { object, value in try set(Self.cast(object, key: key), value) }
    }

    /// The object as an instance of the class, else an error that names the property.
    private static func cast<Owner: ManagedObject>(_ object: ManagedObject, key: String) throws -> Owner {
      guard let owner = object as? Owner else {
        throw GraphError(
          .invalidObject, message: "\(object.entity.name).\(key): its accessor is for \(Owner.self)", property: key)
      }
      return owner
    }
  }
}
