public import MoonbaseGraph
public import MoonbaseModel

/// Sets attributes of all saved objects that match a predicate, without loading them into a context.
///
/// ```swift
/// var request = BatchUpdateRequest("Person", where: try Predicate(format: "age >= 18"), set: ["isAdult": true])
/// request.propertiesToUpdate["age"] = try Expression(format: "age + 1")
/// request.resultType = .count
/// print(try context.execute(request).count ?? 0)
/// ```
public struct BatchUpdateRequest: Sendable, Hashable {
  /// The name of the entity.
  public var entityName: String
  /// The predicate for saved rows; nil matches every object.
  public var predicate: Predicate?
  /// Whether subentities are included.
  public var includesSubentities = true
  /// For each persistent attribute, the expression of its new value, evaluated for the row before the update.
  public var propertiesToUpdate: [String: Expression]
  /// For each further persistent attribute, the function that computes its new value.
  public var functionsToUpdate: [String: BatchUpdateFunction] = [:]
  /// The kind of result.
  public var resultType = BatchResultType.statusOnly

  /// Makes a request that sets values.
  public init(_ entityName: String, where predicate: Predicate? = nil, set values: [String: Value] = [:]) {
    self.entityName = entityName
    self.predicate = predicate
    propertiesToUpdate = values.mapValues(Expression.constant)
  }

  /// Makes a request that sets Swift values. `nil` sets null.
  @_disfavoredOverload
  public init(_ entityName: String, where predicate: Predicate? = nil, set values: ConvertibleValues) {
    self.init(entityName, where: predicate, set: [String: Value](values))
  }

  /// Makes a request with a predicate format string that sets Swift values. `nil` sets null.
  ///
  /// ```swift
  /// let request = try BatchUpdateRequest("Person", where: "age >= %@", 18, set: ["isAdult": true])
  /// ```
  ///
  /// Throws `ModelError` with the position in the text, and if arguments are missing or left over.
  public init<each Argument: ValueConvertible>(
    _ entityName: String, where text: String, _ arguments: repeat each Argument, set values: ConvertibleValues = [:]
  ) throws(ModelError) {
    self.init(
      entityName, where: try Predicate(format: text, arguments: [Value](converting: repeat each arguments)), set: values
    )
  }
}

/// Deletes all saved objects that match a request, without loading them into a context.
///
/// Delete rules apply: cascade deletes destinations, nullify clears relationships, and an object with a denying
/// relationship stays.
///
/// ```swift
/// var request = BatchDeleteRequest(try FetchRequest("Event", where: "date < %@", .date(limit)))
/// request.resultType = .objectIDs
/// if let changes = try context.execute(request).changes { try viewContext.mergeChanges(from: changes) }
/// ```
public struct BatchDeleteRequest: Sendable, Hashable {
  /// The objects to delete; order, limit and offset count.
  public var fetchRequest: FetchRequest
  /// The kind of result.
  public var resultType = BatchResultType.statusOnly
  /// The IDs, if the request lists objects.
  let objectIDs: [ManagedObjectID]?

  /// Makes a request for the objects that match a fetch request.
  public init(_ fetchRequest: FetchRequest) {
    self.fetchRequest = fetchRequest
    objectIDs = nil
  }

  /// Makes a request for objects of one entity and its subentities. Objects that are already deleted are ignored.
  public init(objectIDs: [ManagedObjectID]) {
    fetchRequest = FetchRequest(objectIDs.first?.entityName ?? "", where: Self.condition(objectIDs))
    self.objectIDs = objectIDs
  }

  static func condition(_ ids: [ManagedObjectID]) -> Predicate {
    .comparison(.init(.evaluatedObject, .in, .constant(.list(ids.map(Value.objectID)))))
  }
}

/// Inserts objects without loading them into a context: from a list of dictionaries, or from a closure that is called
/// for each object.
///
/// If an object has the unique values of a saved one, the context's merge policy decides: with
/// `.mergeByPropertyObjectTrump` its values are written to the saved object (an upsert); with `.error` nothing is
/// inserted.
///
/// ```swift
/// var lines = text.split(separator: "\n").makeIterator()
/// let request = BatchInsertRequest("Person", dictionaryHandler: { values in
///   guard let line = lines.next() else { return true }
///   values = ["name": .string(String(line))]
///   return false
/// })
/// try context.execute(request)
/// ```
public struct BatchInsertRequest {
  /// Sets the values of a new object by attribute name; returns true if there are no more objects.
  public typealias DictionaryHandler = (inout [String: Value]) throws -> Bool
  /// Sets the attributes of a new object; returns true if there are no more objects.
  public typealias ObjectHandler = (ManagedObject) throws -> Bool

  enum Source {
    case dictionaries([[String: Value]])
    case dictionaryHandler(DictionaryHandler)
    case objectHandler(ObjectHandler)
  }

  /// The name of the entity.
  public var entityName: String
  /// The kind of result.
  public var resultType = BatchResultType.statusOnly
  let source: Source

  /// Makes a request with the values of each object.
  public init(_ entityName: String, objects: [[String: Value]]) {
    self.entityName = entityName
    source = .dictionaries(objects)
  }

  /// Makes a request with the values of each object, as Swift values.
  @_disfavoredOverload
  public init(_ entityName: String, objects: [ConvertibleValues]) {
    self.init(entityName, objects: objects.map([String: Value].init))
  }

  /// Makes a request whose closure is called for the values of each object until it returns true. Values set by that
  /// last call are not inserted.
  public init(_ entityName: String, dictionaryHandler: @escaping DictionaryHandler) {
    self.entityName = entityName
    source = .dictionaryHandler(dictionaryHandler)
  }

  /// Makes a request whose closure is called with each new object until it returns true. The object of that last call
  /// is not inserted. Objects have the entity's class, and are valid only until the closure returns.
  public init(_ entityName: String, managedObjectHandler: @escaping ObjectHandler) {
    self.entityName = entityName
    source = .objectHandler(managedObjectHandler)
  }
}

/// The result of a batch request, according to its `resultType`.
public struct BatchResult: Sendable, Hashable {
  /// The number of objects that were inserted (or updated by an upsert), matched an update, or were deleted as matches.
  /// Nil for `.statusOnly`.
  public let count: Int?
  /// The IDs of these objects; nil unless requested.
  public let objectIDs: [ManagedObjectID]?
  /// All changes, including effects of delete rules, for `mergeChanges(from:)`; nil unless IDs are requested.
  public let changes: SavedObjectIDs?

  init(_ type: BatchResultType, ids: @autoclosure () -> [ManagedObjectID], count: Int, changes: SavedObjectIDs) {
    self.count = type == .statusOnly ? nil : count
    objectIDs = type == .objectIDs ? ids() : nil
    self.changes = type == .objectIDs ? changes : nil
  }

  init(_ type: BatchResultType, of result: StoreBatchResult) {
    self.init(type, ids: result.objectIDs, count: result.count, changes: result.changes)
  }
}

extension BatchResult: CustomStringConvertible {
  /// The number of objects and of changes that a request reported: `3 objects (0 inserted, 3 updated, 0 deleted)`.
  public var description: String {
    guard let count else { return "done (the result type is statusOnly)" }
    let objects = count == 1 ? "1 object" : "\(count) objects"
    guard let changes else { return objects }
    return "\(objects) (\(changes.inserted.count) inserted, \(changes.updated.count) updated, "
      + "\(changes.deleted.count) deleted)"
  }
}
