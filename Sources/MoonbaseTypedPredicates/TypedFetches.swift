public import MoonbaseGraph
public import MoonbaseModel

extension TypedFetchRequest {
  /// Makes a request for the objects of the class that satisfy a condition, in an order. Nil selects all objects.
  public init(where condition: TypedPredicate<Object>?, sort: [TypedSortDescriptor<Object>] = []) {
    var request = FetchRequest("", where: condition?.predicate)
    request.sortDescriptors = sort.map { $0.descriptor }
    self.init(request)
  }

  /// Makes a request for all objects of the class, in an order.
  public init(sort: [TypedSortDescriptor<Object>]) {
    self.init(where: nil, sort: sort)
  }
}

extension TypedObject where Self: ManagedObject {
  /// A request for the objects of the class that satisfy a condition, in an order. Nil selects all objects.
  public static func fetchRequest(
    where condition: TypedPredicate<Self>?, sort: [TypedSortDescriptor<Self>] = []
  ) -> TypedFetchRequest<Self> {
    TypedFetchRequest(where: condition, sort: sort)
  }
}

extension ManagedObjectContext {
  /// The objects of a class that satisfy a condition, in an order.
  ///
  /// ```swift
  /// let people = try context.fetch(
  ///   Person.self, where: Person.age > 30 && Person.name.beginsWith("A", .caseInsensitive),
  ///   sort: [Person.name.ascending])
  /// ```
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, where condition: TypedPredicate<Object>?, sort: [TypedSortDescriptor<Object>] = []
  ) throws -> [Object] {
    try fetch(TypedFetchRequest(where: condition, sort: sort))
  }

  /// The objects of a class that match a predicate format, in an order of typed keys.
  ///
  /// ```swift
  /// let people = try context.fetch(Person.self, where: "age > %@", age, sort: [Person.name.ascending])
  /// ```
  public func fetch<Object: ManagedObject, each Argument: ValueConvertible>(
    _ type: Object.Type, where text: String, _ arguments: repeat each Argument, sort: [TypedSortDescriptor<Object>]
  ) throws -> [Object] {
    try fetch(TypedFetchRequest(where: TypedPredicate(text, repeat each arguments), sort: sort))
  }

  /// All objects of a class, in an order.
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, sort: [TypedSortDescriptor<Object>]
  ) throws -> [Object] {
    try fetch(TypedFetchRequest(sort: sort))
  }

  /// The number of objects of a class that satisfy a condition.
  public func count<Object: ManagedObject>(_ type: Object.Type, where condition: TypedPredicate<Object>) throws -> Int {
    try count(TypedFetchRequest(where: condition))
  }

  /// The objects of a class that satisfy a condition, in an order, read lazily as they are walked.
  public func fetchedObjects<Object: ManagedObject>(
    _ type: Object.Type, where condition: TypedPredicate<Object>?, sort: [TypedSortDescriptor<Object>] = []
  ) throws -> TypedFetchedObjects<Object> {
    try fetchedObjects(TypedFetchRequest(where: condition, sort: sort))
  }
}
