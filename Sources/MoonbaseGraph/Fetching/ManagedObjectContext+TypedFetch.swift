public import MoonbaseModel

extension ManagedObjectContext {
  /// The objects of a class that match a request. Throws as `fetch` of a `FetchRequest` does, and if an object has
  /// another class, which a subentity may specify.
  public func fetch<Object: ManagedObject>(_ request: TypedFetchRequest<Object>) throws -> [Object] {
    try fetch(request.request(in: self)).map(typed)
  }

  /// The number of objects of a class that match a request. Throws as `count` of a `FetchRequest` does. Classes of
  /// objects are not checked.
  public func count<Object: ManagedObject>(_ request: TypedFetchRequest<Object>) throws -> Int {
    try count(request.request(in: self))
  }

  /// The objects of a class that match a predicate. Subentities are included.
  public func fetch<Object: ManagedObject>(_ type: Object.Type, where predicate: Predicate? = nil) throws -> [Object] {
    try fetch(TypedFetchRequest<Object>(where: predicate))
  }

  /// The objects of a class that match a predicate format string.
  ///
  /// ```swift
  /// let adults = try context.fetch(Person.self, where: "age >= %@", 18)
  /// ```
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, where text: String, _ arguments: Value...
  ) throws -> [Object] {
    try fetch(type, where: Predicate(format: text, arguments: arguments))
  }

  /// The objects of a class that match a predicate format string with Swift values.
  ///
  /// ```swift
  /// let peers = try context.fetch(Person.self, where: "age >= %@ AND department == %@", age, department)
  /// ```
  @_disfavoredOverload
  public func fetch<Object: ManagedObject, each Argument: ValueConvertible>(
    _ type: Object.Type, where text: String, _ arguments: repeat each Argument
  ) throws -> [Object] {
    try fetch(type, where: Predicate(format: text, arguments: [Value](converting: repeat each arguments)))
  }

  /// The number of objects of a class that match a predicate. Subentities are included.
  public func count<Object: ManagedObject>(_ type: Object.Type, where predicate: Predicate? = nil) throws -> Int {
    try count(TypedFetchRequest<Object>(where: predicate))
  }

  /// The number of objects of a class that match a predicate format string with Swift values. Throws `ModelError` for
  /// an invalid format string.
  public func count<Object: ManagedObject, each Argument: ValueConvertible>(
    _ type: Object.Type, where text: String, _ arguments: repeat each Argument
  ) throws -> Int {
    try count(TypedFetchRequest<Object>(where: text, repeat each arguments))
  }
}

extension ManagedObjectContext {
  /// The objects of a class that match a request, as a collection that reads rows in batches and creates objects on
  /// access.
  ///
  /// Throws as `fetchedObjects` of a `FetchRequest` does, and if a subentity has another class.
  public func fetchedObjects<Object: ManagedObject>(
    _ request: TypedFetchRequest<Object>
  ) throws -> TypedFetchedObjects<Object> {
    let request = try request.request(in: self)
    try checkClass(Object.self, of: request)
    return TypedFetchedObjects(try fetchedObjects(request))
  }

  /// The objects of a class that match a predicate, as a collection that reads rows on demand.
  public func fetchedObjects<Object: ManagedObject>(
    _ type: Object.Type, where predicate: Predicate? = nil
  ) throws -> TypedFetchedObjects<Object> {
    /// Throws as the variant with a request does.
    try fetchedObjects(TypedFetchRequest<Object>(where: predicate))
  }

  /// The objects of a class that match a predicate format string, as a collection that reads rows on demand.
  public func fetchedObjects<Object: ManagedObject>(
    _ type: Object.Type, where text: String, _ arguments: Value...
  ) throws -> TypedFetchedObjects<Object> {
    try fetchedObjects(type, where: Predicate(format: text, arguments: arguments))
  }

  /// The objects of a class that match a predicate format string with Swift values, as a collection that reads rows on
  /// demand.
  @_disfavoredOverload
  public func fetchedObjects<Object: ManagedObject, each Argument: ValueConvertible>(
    _ type: Object.Type, where text: String, _ arguments: repeat each Argument
  ) throws -> TypedFetchedObjects<Object> {
    try fetchedObjects(type, where: Predicate(format: text, arguments: [Value](converting: repeat each arguments)))
  }
}

extension ManagedObjectContext {
  /// A request that is checked against the model, with the literals of its predicate in the types and classes of their
  /// attributes. Throws the errors of `FetchRequest.checked(in:)` and of value classes.
  package func checked(_ request: FetchRequest) throws -> FetchRequest {
    var checked = try request.checked(in: model)
    guard !extensionRegistry.valueClasses.isEmpty, let predicate = checked.predicate else { return checked }
    checked.predicate = try ClassLiterals(context: self, entity: entity(request.entityName)).converted(predicate)
    return checked
  }
}
