public import MoonbaseModel

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
  @inlinable
  public final subscript<Owner: ManagedObject, T: AttributeValue>(attribute: Attribute<Owner, T>) -> T {
    get {
      let value = value(of: attribute)
      if let result = T.read(value) { return result }
      if !value.isNull { keepMismatch(value, of: attribute) }
      return T.missing
    }
    set { setValue(newValue.attributeValue, of: attribute) }
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

  // What the type of the value does not matter to stays here; the rest is made for that type where it is used.

  /// The value, or null where it cannot be read.
  @usableFromInline
  final func value<Owner, T>(of attribute: Attribute<Owner, T>) -> Value {
    kept(or: .null) { try read(slot(of: attribute), behavior()) }
  }

  @usableFromInline
  final func setValue<Owner, T>(_ value: Value, of attribute: Attribute<Owner, T>) {
    kept(or: ()) { try write(value, slot(of: attribute), behavior()) }
  }

  @usableFromInline
  final func keepMismatch<Owner, T>(_ value: Value, of attribute: Attribute<Owner, T>) {
    kept(or: ()) {
      throw refused(try slot(of: attribute), value, "it is \(value.typeDescription), which is no \(T.self)")
    }
  }

  private func slot<Owner, T>(of attribute: Attribute<Owner, T>) throws -> Int {
    guard let slot = entity.slot(attribute.symbol) else { throw unknownKey(attribute.name) }
    return slot
  }
}
