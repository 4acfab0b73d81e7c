public import MoonbaseModel

/// The result of a typed request: a `FetchedObjects` collection whose objects have the class.
///
/// ```swift
/// for person in try context.fetchedObjects(Person.self, where: "age > 30") { total += person.age }
/// ```
public struct TypedFetchedObjects<Object: ManagedObject> {
  /// The collection without the class. Both read the same rows and create the same objects.
  public let untyped: FetchedObjects

  /// Makes a collection; the caller has checked the classes.
  package init(_ untyped: FetchedObjects) { self.untyped = untyped }

  /// The IDs of the objects, in their order.
  public var objectIDs: [ManagedObjectID] { untyped.objectIDs }

  /// The object at an index with its values; nil if it was deleted since, or its row is gone. Throws as
  /// `FetchedObjects` does.
  public func existingObject(at index: Int) throws -> Object? { try untyped.existingObject(at: index).map(Self.typed) }

  /// The object with its class, which was checked before the fetch. A precondition fails if the object has another
  /// class nevertheless.
  fileprivate static func typed(_ object: ManagedObject) -> Object {
    guard let typed = object as? Object else { preconditionFailure("\(object.entity.name) has another class by now") }
    return typed
  }
}

extension TypedFetchedObjects: RandomAccessCollection {
  /// Iterates over the objects as they are read.
  public struct Iterator: IteratorProtocol {
    /// The iterator without the class.
    fileprivate var untyped: FetchedObjects.Iterator

    /// The next object. If rows cannot be read, the iteration ends and the context keeps the error.
    public mutating func next() -> Object? { untyped.next().map(TypedFetchedObjects.typed) }
  }

  /// Iterates over the objects in order.
  public func makeIterator() -> Iterator { Iterator(untyped: untyped.makeIterator()) }

  /// The first place.
  public var startIndex: Int { 0 }
  /// The place after the last object.
  public var endIndex: Int { untyped.endIndex }

  /// The object at an index. For objects deleted since, see `FetchedObjects`.
  public subscript(index: Int) -> Object { Self.typed(untyped[index]) }
}
