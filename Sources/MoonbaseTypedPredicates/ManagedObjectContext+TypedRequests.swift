public import MoonbaseBatchRequests
public import MoonbaseGraph
public import MoonbaseModel
public import MoonbasePlatform
public import enum MoonbaseModel.Predicate
public import struct MoonbaseModel.SortDescriptor

extension ManagedObjectContext {
  /// The objects that Foundation's predicate finds, in the order of its sort descriptors.
  ///
  /// ```swift
  /// let adults = try context.fetch(#Predicate<Person> { $0.age >= 18 })
  /// ```
  ///
  /// Throws the errors of `fetch`, and an error for an expression that a fetch does not support.
  public func fetch<Object: ManagedObject>(
    _ predicate: FoundationPredicate<Object>, sortBy descriptors: [FoundationSortDescriptor<Object>] = []
  ) throws -> [Object] {
    try fetch(TypedFetchRequest(predicate, sortBy: descriptors))
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

extension ManagedObjectContext {
  /// Values of a class's objects, instead of the objects (`fetchDictionaries` of a `FetchRequest`).
  ///
  /// ```swift
  /// var request = Person.fetchRequest(where: Person.age > 30)
  /// request.propertiesToFetch = [
  ///   FetchColumn(Person.department.name), FetchColumn("number", expression: .keyPath("@count")),
  /// ]
  /// request.propertiesToGroupBy = [Person.department.name.keyPath]
  /// let rows = try context.fetchDictionaries(request)
  /// ```
  public func fetchDictionaries<Object: ManagedObject>(
    _ request: TypedFetchRequest<Object>
  ) throws -> [[String: Value]] {
    try fetchDictionaries(request.request(in: self))
  }

  /// The IDs of the objects that a typed request finds.
  public func fetchIDs<Object: ManagedObject>(_ request: TypedFetchRequest<Object>) throws -> [ManagedObjectID] {
    try fetchIDs(request.request(in: self))
  }

  /// Sets attributes of all saved objects of a class that satisfy a condition, in the store and without contexts
  /// (`BatchUpdateRequest`).
  ///
  /// ```swift
  /// try context.batchUpdate(
  ///   Person.self, where: Person.age < 18, set: Person.isAdult.set(to: false), Person.age.set(to: Person.age + 1))
  /// ```
  @discardableResult
  public func batchUpdate<Object: ManagedObject>(
    _ type: Object.Type, where condition: TypedPredicate<Object>? = nil, set assignments: TypedAssignment<Object>...,
    resultType: BatchResultType = .statusOnly
  ) throws -> BatchResult {
    var request = BatchUpdateRequest(try entity(of: type).name, where: condition?.predicate)
    for assignment in assignments { request.propertiesToUpdate[assignment.name] = assignment.expression }
    request.resultType = resultType
    return try execute(request)
  }

  /// Deletes all saved objects of a class that satisfy a condition, in the store and without contexts
  /// (`BatchDeleteRequest`).
  @discardableResult
  public func batchDelete<Object: ManagedObject>(
    _ type: Object.Type, where condition: TypedPredicate<Object>, resultType: BatchResultType = .statusOnly
  ) throws -> BatchResult {
    var request = BatchDeleteRequest(try TypedFetchRequest(where: condition).request(in: self))
    request.resultType = resultType
    return try execute(request)
  }
}
