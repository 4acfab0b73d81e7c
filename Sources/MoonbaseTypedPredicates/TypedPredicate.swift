public import MoonbaseGraph
public import MoonbaseModel

public import enum MoonbaseModel.Predicate
public import struct MoonbaseModel.SortDescriptor

/// A condition for objects of one class, made from typed keys.
///
/// ```swift
/// let condition = Person.age > 30 && Person.name.beginsWith("A", .caseInsensitive)
/// let people = try context.fetch(Person.self, where: condition)
/// ```
public struct TypedPredicate<Object: ManagedObject>: Sendable, Hashable {
  /// The condition as an untyped tree, like those of the format language.
  public let predicate: Predicate

  /// Makes a typed condition from an untyped one, for combination with other typed conditions.
  public init(_ predicate: Predicate) { self.predicate = predicate }

  /// Makes a typed condition from a predicate format, for combination with other typed conditions.
  ///
  /// Throws `ModelError` with the position in the text.
  ///
  /// ```swift
  /// let condition = try Person.age > 30 && TypedPredicate("ANY friends.age > %@", 60)
  /// ```
  public init<each Argument: ValueConvertible>(
    _ text: String, _ arguments: repeat each Argument
  ) throws(ModelError) {
    self.init(try Predicate(format: text, arguments: [Value](converting: repeat each arguments)))
  }

  /// A condition that requires both conditions.
  public static func && (left: Self, right: Self) -> Self { Self(left.predicate && right.predicate) }
  /// A condition that requires at least one of the conditions.
  public static func || (left: Self, right: Self) -> Self { Self(left.predicate || right.predicate) }
  /// The negation of a condition.
  public static prefix func ! (condition: Self) -> Self { Self(!condition.predicate) }
}

/// An order of objects of one class by a typed key: `Person.name.ascending`.
public struct TypedSortDescriptor<Object: ManagedObject>: Sendable, Hashable {
  /// The order as an untyped sort descriptor.
  public let descriptor: SortDescriptor
}

extension AttributeKeyPath {
  /// Sorts the smallest value first.
  public var ascending: TypedSortDescriptor<Owner> { .init(descriptor: SortDescriptor(keyPath)) }
  /// Sorts the greatest value first.
  public var descending: TypedSortDescriptor<Owner> { .init(descriptor: SortDescriptor(keyPath, ascending: false)) }

  /// Sorts the smallest text first, by a comparator.
  public func ascending(_ comparator: SortDescriptor.Comparator) -> TypedSortDescriptor<Owner> {
    .init(descriptor: SortDescriptor(keyPath, comparator: comparator))
  }

  /// Sorts the greatest text first, by a comparator.
  public func descending(_ comparator: SortDescriptor.Comparator) -> TypedSortDescriptor<Owner> {
    .init(descriptor: SortDescriptor(keyPath, ascending: false, comparator: comparator))
  }
}
