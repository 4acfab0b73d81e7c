public import MoonbaseModel

extension ManagedObject {
  /// A property accessor of a subclass, used by access by key, by predicates and by scripts.
  public struct CustomAccessor {
    let key: String
    let get: (ManagedObject) throws -> Value
    let set: (ManagedObject, Value) throws -> Void

    /// Makes an accessor for objects of a subclass.
    public init<Owner: ManagedObject>(
      _ key: String, of type: Owner.Type = Owner.self, get: @escaping (Owner) throws -> Value,
      set: @escaping (Owner, Value) throws -> Void
    ) {
      self.key = key
      self.get = { object in try get(Self.cast(object, key: key)) }
      self.set = { object, value in try set(Self.cast(object, key: key), value) }
    }

    private static func cast<Owner: ManagedObject>(_ object: ManagedObject, key: String) throws -> Owner {
      guard let owner = object as? Owner else {
        throw GraphError(
          .invalidObject, message: "\(object.entity.name).\(key): its accessor is for \(Owner.self)", property: key)
      }
      return owner
    }
  }
}
