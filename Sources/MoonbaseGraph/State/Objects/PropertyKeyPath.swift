import MoonbaseModel
import MoonbasePlatform

/// The property that a Swift key path of a class stands for, for use in Foundation's predicates and sort descriptors.
///
/// ```swift
/// final class Person: ManagedObject {
///   static let age = Attribute<Person, Int64>("age")
///   static let department = ToOne<Person, Department>("department")
///   var age: Int64 { self[Self.age] }
///   var department: Department? { self[Self.department] }
///
///   override class var keyPaths: [PropertyKeyPath] {
///     [.init(\Person.age, age), .init(\Person.department, department)]
///   }
/// }
///
/// let adults = try context.fetch(#Predicate<Person> { $0.age >= 18 && $0.department?.name == "research" })
/// ```
///
/// A key path includes its class: a predicate over `Employee` needs `\Employee.age`, even if `Person` declares `age`.
public struct PropertyKeyPath {
  let keyPath: AnyKeyPath
  /// The name of the property.
  package let name: String
  /// Whether the property is a to-many relationship.
  package let isToMany: Bool
  /// Whether objects of a class have the property, as far as the typed key shows.
  let fits: @Sendable (ManagedObject.Type) -> Bool

  /// The key path of a property that reads an attribute.
  public init<Root: ManagedObject, Owner: ManagedObject, T: AttributeValue>(
    _ keyPath: KeyPath<Root, T>, _ attribute: Attribute<Owner, T>
  ) {
    (self.keyPath, name, isToMany, fits) = (keyPath, attribute.name, false, { $0 is Owner.Type })
  }

  /// The key path of a property that reads a to-one relationship.
  public init<Root: ManagedObject, Owner: ManagedObject, D: ManagedObject>(
    _ keyPath: KeyPath<Root, D?>, _ relationship: ToOne<Owner, D>
  ) {
    (self.keyPath, name, isToMany, fits) = (keyPath, relationship.relationshipName, false, { $0 is Owner.Type })
  }

  /// The key path of a property that reads a to-many relationship.
  public init<Root: ManagedObject, Owner: ManagedObject, D: ManagedObject>(
    _ keyPath: KeyPath<Root, [D]>, _ relationship: ToMany<Owner, D>
  ) {
    (self.keyPath, name, isToMany, fits) = (keyPath, relationship.relationshipName, true, { $0 is Owner.Type })
  }

  /// The key path of a computed Swift property, whose values are those that a predicate sees under `name`.
  public init<Root: ManagedObject, T>(_ keyPath: KeyPath<Root, T>, named name: String) {
    (self.keyPath, self.name, isToMany, fits) = (keyPath, name, false, { _ in true })
  }
}
