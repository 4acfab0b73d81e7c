import MoonbaseModel

/// A typed key of an attribute: `static let age = Attribute<Person, Int64>("age")`.
///
/// The name is interned once; an access costs an index instead of a string hash.
public struct Attribute<Owner: ManagedObject, Value: AttributeValue>: Sendable {
  /// The attribute's name.
  public let name: String
  let symbol: Symbol

  /// Makes a key.
  public init(_ name: String) {
    self.name = name
    symbol = Symbol(name)
  }
}

/// A typed key of a to-one relationship.
public struct ToOne<Owner: ManagedObject, Destination: ManagedObject>: Sendable {
  /// The relationship's name.
  public let name: String

  /// Makes a key.
  public init(_ name: String) { self.name = name }
}

/// A typed key of a to-many relationship.
public struct ToMany<Owner: ManagedObject, Destination: ManagedObject>: Sendable {
  /// The relationship's name.
  public let name: String

  /// Makes a key.
  public init(_ name: String) { self.name = name }
}

extension ManagedObject {
  /// The value of an attribute past the subclass's own accessor, which is where this is used.
  ///
  /// A value that is refused leaves the old one, one that cannot be read gives nil or the type's zero; the error is kept in the
  /// context's `pendingErrors` and fails the next save.
  public final subscript<Owner: ManagedObject, T: AttributeValue>(attribute: Attribute<Owner, T>) -> T {
    get {
      kept(or: T.missing) {
        let slot = try slot(of: attribute)
        let value = try read(slot, behavior())
        if let result = T.read(value) { return result }
        if value.isNull { return T.missing }
        throw refused(slot, value, "it is \(value.typeDescription), which is no \(T.self)")
      }
    }
    set { kept(or: ()) { try write(newValue.attributeValue, slot(of: attribute), behavior()) } }
  }

  /// The destination of a to-one relationship.
  public final subscript<Owner: ManagedObject, D: ManagedObject>(relationship: ToOne<Owner, D>) -> D? {
    get { kept(or: nil) { try object(forKey: relationship.name) as? D } }
    set { kept(or: ()) { try setObject(newValue, forKey: relationship.name) } }
  }

  /// The destinations of a to-many relationship.
  public final subscript<Owner: ManagedObject, D: ManagedObject>(relationship: ToMany<Owner, D>) -> [D] {
    get { kept(or: []) { try objects(forKey: relationship.name).compactMap { $0 as? D } } }
    set { kept(or: ()) { try setObjects(newValue, forKey: relationship.name) } }
  }

  private func slot<Owner, T>(of attribute: Attribute<Owner, T>) throws -> Int {
    guard let slot = entity.slot(attribute.symbol) else { throw unknownKey(attribute.name) }
    return slot
  }
}
