public import MoonbaseModel

/// A fetch request for objects of one class: a `FetchRequest` for the entity that has the class in the context's model.
///
/// ```swift
/// var request = Person.fetchRequest()
/// request.predicate = try Predicate(format: "age > 30")
/// request.fetchLimit = 20
/// let people = try context.fetch(request)     // [Person]
/// ```
@dynamicMemberLookup
public struct TypedFetchRequest<Object: ManagedObject>: Sendable {
  /// The untyped request. Its entity name is empty until it is set explicitly.
  private var request = FetchRequest("")

  /// A request with the conditions of another one, whose entity name is empty.
  package init(_ request: FetchRequest) { self.request = request }

  /// A request for all objects of the class. The predicate is checked when the request is executed.
  public init(where predicate: Predicate? = nil) { request.predicate = predicate }

  /// A request for the objects of the class that match a predicate format string with Swift values. Throws `ModelError`
  /// with the position in the text.
  public init<each Argument: ValueConvertible>(
    where text: String, _ arguments: repeat each Argument
  ) throws(ModelError) {
    request.predicate = try Predicate(format: text, arguments: [Value](converting: repeat each arguments))
  }

  /// The untyped request, for a context whose model has an entity of the class. Throws if there is none.
  ///
  /// An entity name that was set explicitly is used unchanged.
  public func request(in context: ManagedObjectContext) throws -> FetchRequest {
    guard request.entityName.isEmpty else { return request }
    var request = request
    request.entityName = try context.entity(of: Object.self).name
    return request
  }

  /// The properties of the request, such as predicate, limit and order. Setting `entityName` selects the entity.
  public subscript<Part>(dynamicMember part: WritableKeyPath<FetchRequest, Part>) -> Part {
    get { request[keyPath: part] }
    set { request[keyPath: part] = newValue }
  }
}

extension TypedObject where Self: ManagedObject {
  /// A request for objects of the class. Calls the initializer of `TypedFetchRequest`.
  public static func fetchRequest(where predicate: Predicate? = nil) -> TypedFetchRequest<Self> {
    TypedFetchRequest(where: predicate)
  }

  /// A request for the objects of the class that match a predicate format string with Swift values. Throws `ModelError`
  /// with the position in the text.
  public static func fetchRequest<each Argument: ValueConvertible>(
    where text: String, _ arguments: repeat each Argument
  ) throws(ModelError) -> TypedFetchRequest<Self> {
    try TypedFetchRequest(where: text, repeat each arguments)
  }
}

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
