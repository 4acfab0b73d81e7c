import MoonbaseModel

/// A typed key of an attribute, for objects of one class.
///
/// The name is interned once, so that an access costs an array index instead of a string hash.
///
/// ```swift
/// static let age = Attribute<Person, Int64>("age")
///
/// var age: Int64 {
///   get { self[Self.age] }
///   set { self[Self.age] = newValue }
/// }
/// ```
public struct Attribute<Owner: ManagedObject, Value: AttributeValue>: Sendable {
  /// The attribute's name.
  public let name: String
  /// The number of the name's symbol, which is all that an access needs.
  @usableFromInline let symbol: UInt32

  /// Makes a key.
  public init(_ name: String) {
    self.name = name
    symbol = Symbol(name).number
  }

  /// Makes the key of a subclass from a key of its class.
  ///
  /// A key that is declared in this way belongs to all subclasses: `Employee.age > 30` is a condition over employees.
  ///
  /// ```swift
  /// extension TypedObject where Self: Person {
  ///   static var age: Attribute<Self, Int64> { Attribute(Person.Keys.age) }
  /// }
  /// ```
  @inlinable public init<Parent>(_ key: Attribute<Parent, Value>) {
    name = key.name
    symbol = key.symbol
  }
}

/// A typed key of a to-one relationship.
///
/// ```swift
/// static let department = ToOne<Person, Department>("department")
///
/// var department: Department? {
///   get { self[Self.department] }
///   set { self[Self.department] = newValue }
/// }
/// ```
public struct ToOne<Owner: ManagedObject, Destination: ManagedObject>: Sendable {
  /// The relationship's name.
  public let relationshipName: String

  /// Makes a key.
  public init(_ name: String) { relationshipName = name }

  /// Makes the key of a subclass from a key of its class.
  public init<Parent>(_ key: ToOne<Parent, Destination>) { relationshipName = key.relationshipName }
}

/// A typed key of a to-many relationship.
///
/// ```swift
/// static let people = ToMany<Department, Person>("people")
///
/// var people: [Person] {
///   get { self[Self.people] }
///   set { self[Self.people] = newValue }
/// }
/// ```
public struct ToMany<Owner: ManagedObject, Destination: ManagedObject>: Sendable {
  /// The relationship's name.
  public let relationshipName: String

  /// Makes a key.
  public init(_ name: String) { relationshipName = name }

  /// Makes the key of a subclass from a key of its class.
  public init<Parent>(_ key: ToMany<Parent, Destination>) { relationshipName = key.relationshipName }
}
