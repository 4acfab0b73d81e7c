public import MoonbaseGraph
public import MoonbaseModel

public import enum MoonbaseModel.Expression

/// A to-one relationship in typed conditions: its key, or a path to a to-one relationship.
///
/// The keys of the destination's class are members: `Person.department.name`, `Person.department.company.city`.
@dynamicMemberLookup
public protocol ToOneExpression<Owner, Destination>: Sendable {
  /// The class with the relationship.
  associatedtype Owner: ManagedObject
  /// The class of the destination.
  associatedtype Destination: ManagedObject
  /// The path as text: `department.company`.
  var relationshipKeyPath: String { get }
}

/// A to-many relationship in typed conditions: its key, or a path to a to-many relationship.
public protocol ToManyExpression<Owner, Destination>: Sendable {
  /// The class with the relationship.
  associatedtype Owner: ManagedObject
  /// The class of the destinations.
  associatedtype Destination: ManagedObject
  /// The path as text: `department.people`.
  var relationshipKeyPath: String { get }
}

/// A path over to-one relationships to a to-one relationship.
public struct ToOnePath<Owner: ManagedObject, Destination: ManagedObject>: ToOneExpression {
  /// The path as text.
  public let relationshipKeyPath: String
}

/// A path over to-one relationships to a to-many relationship.
public struct ToManyPath<Owner: ManagedObject, Destination: ManagedObject>: ToManyExpression {
  /// The path as text.
  public let relationshipKeyPath: String
}

extension ToOne: ToOneExpression {
  /// The relationship's name.
  public var relationshipKeyPath: String { relationshipName }
}

extension ToMany: ToManyExpression {
  /// The relationship's name.
  public var relationshipKeyPath: String { relationshipName }
}

extension ToOneExpression {
  /// An attribute of the destination; missing without a destination.
  public subscript<Value>(
    dynamicMember key: KeyPath<Destination.Type, Attribute<Destination, Value>>
  ) -> AttributePath<Owner, Value?> {
    .init(path(to: Destination.self[keyPath: key].name))
  }

  /// An optional attribute of the destination.
  public subscript<Value>(
    dynamicMember key: KeyPath<Destination.Type, Attribute<Destination, Value?>>
  ) -> AttributePath<Owner, Value?> {
    .init(path(to: Destination.self[keyPath: key].name))
  }

  /// A to-one relationship of the destination.
  public subscript<Next>(
    dynamicMember key: KeyPath<Destination.Type, ToOne<Destination, Next>>
  ) -> ToOnePath<Owner, Next> {
    .init(relationshipKeyPath: path(to: Destination.self[keyPath: key].relationshipName))
  }

  /// A to-many relationship of the destination.
  public subscript<Next>(
    dynamicMember key: KeyPath<Destination.Type, ToMany<Destination, Next>>
  ) -> ToManyPath<Owner, Next> {
    .init(relationshipKeyPath: path(to: Destination.self[keyPath: key].relationshipName))
  }

  private func path(to name: String) -> String { "\(relationshipKeyPath).\(name)" }

  private var key: KeyExpression { Expression.key(relationshipKeyPath) }

  /// Whether an object is the destination; with `nil`, whether there is no destination.
  public static func == (relationship: Self, object: Destination?) -> TypedPredicate<Owner> {
    .init(relationship.key == object)
  }
  /// Whether an object is not the destination; with `nil`, whether there is a destination.
  public static func != (relationship: Self, object: Destination?) -> TypedPredicate<Owner> {
    .init(relationship.key != object)
  }
  /// Whether the object with the given ID is the destination.
  public static func == (relationship: Self, id: ManagedObjectID) -> TypedPredicate<Owner> {
    .init(relationship.key == id)
  }
  /// `IN`: whether the destination is one of the given objects.
  public func isIn(_ objects: some Sequence<Destination>) -> TypedPredicate<Owner> { .init(key.isIn(objects)) }
}

extension ToManyExpression {
  private var key: KeyExpression { Expression.key(relationshipKeyPath) }

  /// The number of members.
  public var count: AttributePath<Owner, Int> { .init("\(relationshipKeyPath).@count") }

  /// Whether a condition holds for some member.
  ///
  /// ```swift
  /// Person.friends.any(\.age > 3)
  /// Person.friends.any { $0.age > 3 && $0.name.beginsWith("A") }
  /// ```
  public func any(_ condition: TypedPredicate<Destination>) -> TypedPredicate<Owner> {
    .init(.comparison(.init(members(condition), .greaterThan, .constant(.int(0)))))
  }

  /// Whether a condition holds for every member; true without members.
  public func all(_ condition: TypedPredicate<Destination>) -> TypedPredicate<Owner> {
    .init(.comparison(.init(members(condition), .equal, count.expression)))
  }

  /// Whether a condition holds for no member.
  public func none(_ condition: TypedPredicate<Destination>) -> TypedPredicate<Owner> {
    .init(.comparison(.init(members(condition), .equal, .constant(.int(0)))))
  }

  /// Whether a condition holds for some member.
  public func any(_ condition: (Destination.Type) -> TypedPredicate<Destination>) -> TypedPredicate<Owner> {
    any(condition(Destination.self))
  }

  /// Whether a condition holds for every member; true without members.
  public func all(_ condition: (Destination.Type) -> TypedPredicate<Destination>) -> TypedPredicate<Owner> {
    all(condition(Destination.self))
  }

  /// Whether a condition holds for no member.
  public func none(_ condition: (Destination.Type) -> TypedPredicate<Destination>) -> TypedPredicate<Owner> {
    none(condition(Destination.self))
  }

  /// The number of members that satisfy a condition.
  public func count(where condition: TypedPredicate<Destination>) -> AttributeComputation<Owner, Int> {
    .init(KeyExpression(members(condition)))
  }

  /// Whether an object is a member.
  public func contains(_ object: Destination) -> TypedPredicate<Owner> { .init(key.any == object) }

  /// Whether the object with the given ID is a member.
  public func contains(_ id: ManagedObjectID) -> TypedPredicate<Owner> { .init(key.any == id) }

  /// The sum of an attribute over the members.
  public func sum<Value: NumberValue>(_ attribute: Attribute<Destination, Value>) -> AttributePath<Owner, Value> {
    aggregate("@sum", attribute)
  }

  /// The average of an attribute over the members; missing without members.
  public func average<Value: NumberValue>(_ attribute: Attribute<Destination, Value>) -> AttributePath<Owner, Double?> {
    aggregate("@avg", attribute)
  }

  /// The smallest value of an attribute over the members; missing without members.
  public func minimum<Value>(_ attribute: Attribute<Destination, Value>) -> AttributePath<Owner, Value?> {
    aggregate("@min", attribute)
  }

  /// The greatest value of an attribute over the members; missing without members.
  public func maximum<Value>(_ attribute: Attribute<Destination, Value>) -> AttributePath<Owner, Value?> {
    aggregate("@max", attribute)
  }

  private func aggregate<Value, Result>(
    _ name: String, _ attribute: Attribute<Destination, Value>
  ) -> AttributePath<Owner, Result> {
    .init("\(relationshipKeyPath).\(name).\(attribute.name)")
  }

  /// The number of members that satisfy a condition, by a subquery. Nested subqueries use other variable names.
  private func members(_ condition: TypedPredicate<Destination>) -> Expression {
    let variable = "element\(condition.predicate.lastElementNumber + 1)"
    let inner = condition.predicate.replacing { $0 == .evaluatedObject ? .variable(variable) : nil }
    return .keyPath(.subquery(.keyPath(relationshipKeyPath), variable: variable, inner), ["@count"])
  }
}

extension MoonbaseModel.Predicate {
  /// The greatest number of a variable `element1`, `element2` and so on of the contained subqueries; 0 without one.
  fileprivate var lastElementNumber: Int {
    var last = 0
    _ = replacing { part in
      if case .subquery(_, let variable, _) = part, variable.hasPrefix("element") {
        last = max(last, Int(variable.dropFirst("element".count)) ?? 0)
      }
      return nil
    }
    return last
  }
}

// MARK: - Keys of a class that the context tells: `\.age > 3`

/// `==`
public func == <Object: ManagedObject, Value: AttributeValue>(
  key: KeyPath<Object.Type, Attribute<Object, Value>>, value: Value
) -> TypedPredicate<Object> { Object.self[keyPath: key] == value }

/// `!=`
public func != <Object: ManagedObject, Value: AttributeValue>(
  key: KeyPath<Object.Type, Attribute<Object, Value>>, value: Value
) -> TypedPredicate<Object> { Object.self[keyPath: key] != value }

/// `<`
public func < <Object: ManagedObject, Value: AttributeValue>(
  key: KeyPath<Object.Type, Attribute<Object, Value>>, value: Value
) -> TypedPredicate<Object> { Object.self[keyPath: key] < value }

/// `<=`
public func <= <Object: ManagedObject, Value: AttributeValue>(
  key: KeyPath<Object.Type, Attribute<Object, Value>>, value: Value
) -> TypedPredicate<Object> { Object.self[keyPath: key] <= value }

/// `>`
public func > <Object: ManagedObject, Value: AttributeValue>(
  key: KeyPath<Object.Type, Attribute<Object, Value>>, value: Value
) -> TypedPredicate<Object> { Object.self[keyPath: key] > value }

/// `>=`
public func >= <Object: ManagedObject, Value: AttributeValue>(
  key: KeyPath<Object.Type, Attribute<Object, Value>>, value: Value
) -> TypedPredicate<Object> { Object.self[keyPath: key] >= value }
