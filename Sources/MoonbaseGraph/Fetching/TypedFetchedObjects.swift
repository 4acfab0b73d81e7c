public import MoonbaseModel

/// What a request of a class found: a `FetchedObjects` whose objects are of the class.
///
/// ```swift
/// for person in try context.fetchedObjects(Person.self, where: "age > 30") { total += person.age }
/// ```
public struct TypedFetchedObjects<Object: ManagedObject> {
  /// The same of any class.
  public let untyped: FetchedObjects

  init(_ untyped: FetchedObjects) { self.untyped = untyped }

  /// The IDs of the objects, in their order.
  public var objectIDs: [ManagedObjectID] { untyped.objectIDs }

  /// An object, with its values; nil where it was deleted since, or its row is gone. Throws as `FetchedObjects` does.
  public func existingObject(at index: Int) throws -> Object? { try untyped.existingObject(at: index).map(Self.typed) }

  /// Classes were looked at before anything was found.
  fileprivate static func typed(_ object: ManagedObject) -> Object {
    guard let typed = object as? Object else { preconditionFailure("\(object.entity.name) has another class by now") }
    return typed
  }
}

extension TypedFetchedObjects: RandomAccessCollection {
  /// Goes through the objects as they are read.
  public struct Iterator: IteratorProtocol {
    fileprivate var untyped: FetchedObjects.Iterator

    /// The next object. Where rows cannot be read, there is none, and the context keeps the error.
    public mutating func next() -> Object? { untyped.next().map(TypedFetchedObjects.typed) }
  }

  /// Goes through the objects from the first on.
  public func makeIterator() -> Iterator { Iterator(untyped: untyped.makeIterator()) }

  /// The first place.
  public var startIndex: Int { 0 }
  /// One past the last place.
  public var endIndex: Int { untyped.endIndex }

  /// An object: what `FetchedObjects` says of one that is gone holds here too.
  public subscript(index: Int) -> Object { Self.typed(untyped[index]) }
}

extension ManagedObjectContext {
  /// What a request of a class finds, to be read as it is walked: rows some at a time, objects on access.
  ///
  /// Throws as `fetchedObjects` of a `FetchRequest` does, and where objects of an entity below that of the class may be of another class.
  public func fetchedObjects<Object: ManagedObject>(
    _ request: TypedFetchRequest<Object>
  ) throws -> TypedFetchedObjects<Object> {
    let request = try request.request(in: self)
    try checkClass(Object.self, of: request)
    return TypedFetchedObjects(try fetchedObjects(request))
  }

  /// The objects of a class that match a condition, to be read as they are walked.
  public func fetchedObjects<Object: ManagedObject>(
    _ type: Object.Type, where predicate: Predicate? = nil
  ) throws -> TypedFetchedObjects<Object> {
    try fetchedObjects(TypedFetchRequest<Object>(where: predicate))
  }

  /// The objects of a class that match a condition in words, to be read as they are walked.
  public func fetchedObjects<Object: ManagedObject>(
    _ type: Object.Type, where text: String, _ arguments: Value...
  ) throws -> TypedFetchedObjects<Object> {
    try fetchedObjects(type, where: Predicate(format: text, arguments: arguments))
  }

  /// The objects of a class that match a condition in words, to be read as they are walked. The arguments are values of
  /// Swift's types.
  @_disfavoredOverload
  public func fetchedObjects<Object: ManagedObject, each Argument: ValueConvertible>(
    _ type: Object.Type, where text: String, _ arguments: repeat each Argument
  ) throws -> TypedFetchedObjects<Object> {
    try fetchedObjects(type, where: Predicate(format: text, arguments: [Value](converting: repeat each arguments)))
  }
}
