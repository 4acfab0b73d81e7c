public import MoonbaseGraph
public import MoonbaseModel

public import enum MoonbaseModel.Predicate
public import struct MoonbaseModel.SortDescriptor

/// A condition over objects of one class, made of typed keys.
///
/// ```swift
/// let condition = Person.age > 30 && Person.name.beginsWith("A", .caseInsensitive)
/// let people = try context.fetch(Person.self, where: condition)
/// ```
public struct TypedPredicate<Object: ManagedObject>: Sendable, Hashable {
  /// The condition without its class: a tree as the format language gives it.
  public let predicate: Predicate

  /// Takes a condition of which the compiler knows nothing, to be joined with one of typed keys.
  public init(_ predicate: Predicate) { self.predicate = predicate }

  /// Takes a condition in words, with values of Swift's types, to be joined with one of typed keys. Throws `ModelError`
  /// with the place in the text.
  ///
  /// ```swift
  /// let condition = try Person.age > 30 && TypedPredicate("ANY friends.age > %@", 60)
  /// ```
  public init<each Argument: ValueConvertible>(
    _ text: String, _ arguments: repeat each Argument
  ) throws(ModelError) {
    self.init(try Predicate(format: text, arguments: [Value](converting: repeat each arguments)))
  }

  /// Both hold.
  public static func && (left: Self, right: Self) -> Self { Self(left.predicate && right.predicate) }
  /// At least one holds.
  public static func || (left: Self, right: Self) -> Self { Self(left.predicate || right.predicate) }
  /// The other does not hold.
  public static prefix func ! (condition: Self) -> Self { Self(!condition.predicate) }
}

/// An order of objects of one class by a typed key: `Person.name.ascending`.
public struct TypedSortDescriptor<Object: ManagedObject>: Sendable, Hashable {
  /// The order without its class.
  public let descriptor: SortDescriptor
}

extension AttributeKeyPath {
  /// The smallest value first.
  public var ascending: TypedSortDescriptor<Owner> { .init(descriptor: SortDescriptor(keyPath)) }
  /// The greatest value first.
  public var descending: TypedSortDescriptor<Owner> { .init(descriptor: SortDescriptor(keyPath, ascending: false)) }

  /// The smallest text first, by a comparator.
  public func ascending(_ comparator: SortDescriptor.Comparator) -> TypedSortDescriptor<Owner> {
    .init(descriptor: SortDescriptor(keyPath, comparator: comparator))
  }

  /// The greatest text first, by a comparator.
  public func descending(_ comparator: SortDescriptor.Comparator) -> TypedSortDescriptor<Owner> {
    .init(descriptor: SortDescriptor(keyPath, ascending: false, comparator: comparator))
  }
}
