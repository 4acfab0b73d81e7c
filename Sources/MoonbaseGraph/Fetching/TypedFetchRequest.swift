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
