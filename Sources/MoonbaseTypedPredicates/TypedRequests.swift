public import MoonbaseGraph
import MoonbaseBatchRequests
public import MoonbaseModel

// Typed keys for columns, batch requests, observations and history.

extension FetchColumn {
  /// Makes a column for an attribute, named by its path: `FetchColumn(Person.department.name)`.
  public init(_ key: some AttributeKeyPath) { self.init(key.keyPath) }

  /// Makes a named column for arithmetic: `FetchColumn("pay", Person.salary * 12)`.
  public init(_ name: String, _ expression: some AttributeExpression) {
    self.init(name, expression: expression.expression)
  }
}

/// An assignment in a batch update: `Person.age.set(to: 3)`.
public struct TypedAssignment<Object: ManagedObject>: Sendable {
  let name: String
  let expression: MoonbaseModel.Expression
}

extension Attribute {
  /// Assigns a value to the attribute.
  public func set(to value: Value) -> TypedAssignment<Owner> {
    TypedAssignment(name: name, expression: .constant(value.attributeValue))
  }

  /// Assigns the result of an expression over the former values of the object.
  public func set(to expression: some AttributeExpression<Owner, Value>) -> TypedAssignment<Owner> {
    TypedAssignment(name: name, expression: expression.expression)
  }
}

/// A change of an attribute, as a typed observation reports it.
public struct TypedChange<Value> {
  /// The former value.
  public let old: Value
  /// The new value.
  public let new: Value
}

extension TypedObject where Self: ManagedObject {
  /// Calls `handler` each time that an attribute changes its value (`observe(_:_:)` with the attribute's name).
  ///
  /// A value that cannot be read as the key's type is replaced by the type's `missing`.
  ///
  /// ```swift
  /// let token = try person.observe(Person.age) { change in print(change.old, "->", change.new) }
  /// ```
  public func observe<T: AttributeValue>(
    _ attribute: Attribute<Self, T>, _ handler: @escaping (TypedChange<T>) -> Void
  ) throws -> Observation {
    try observe(attribute.name) { change in
      handler(TypedChange(old: T.read(change.old) ?? T.defaultWhenNull, new: T.read(change.new) ?? T.defaultWhenNull))
    }
  }
}

extension PersistentHistoryChange {
  /// Whether the change updated an attribute.
  public func updates<Owner: ManagedObject, Value: AttributeValue>(_ attribute: Attribute<Owner, Value>) -> Bool {
    updatedProperties.contains(attribute.name)
  }
}
