public import MoonbaseModel

/// What a batch request tells when it is done.
public enum BatchResultType: Sendable, Hashable {
  /// Only that it is done.
  case statusOnly
  /// How many objects it was about.
  case count
  /// These objects, and all that was written, for contexts to merge.
  case objectIDs
}

/// Sets attributes of all saved objects that match a condition, past every context.
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
  /// The condition, over saved rows; nil matches every object.
  public var predicate: Predicate?
  /// Whether objects of subentities are meant too.
  public var includesSubentities = true
  /// By the name of a persistent attribute what it is set to, computed from the row as it was.
  public var propertiesToUpdate: [String: Expression]
  /// By the name of another persistent attribute the function that computes what it is set to.
  public var functionsToUpdate: [String: BatchUpdateFunction] = [:]
  /// What is told when it is done.
  public var resultType = BatchResultType.statusOnly

  /// Makes a request that sets values.
  public init(_ entityName: String, where predicate: Predicate? = nil, set values: [String: Value] = [:]) {
    self.entityName = entityName
    self.predicate = predicate
    propertiesToUpdate = values.mapValues(Expression.constant)
  }

  /// Makes a request that sets values of Swift's types. `nil` takes values away.
  @_disfavoredOverload
  public init(_ entityName: String, where predicate: Predicate? = nil, set values: ConvertibleValues) {
    self.init(entityName, where: predicate, set: [String: Value](values))
  }

  /// Makes a request with a condition in words that sets values of Swift's types. `nil` takes values away.
  ///
  /// ```swift
  /// let request = try BatchUpdateRequest("Person", where: "age >= %@", 18, set: ["isAdult": true])
  /// ```
  ///
  /// Throws `ModelError` with the place in the text, and where arguments are missing or left over.
  public init<each Argument: ValueConvertible>(
    _ entityName: String, where text: String, _ arguments: repeat each Argument, set values: ConvertibleValues = [:]
  ) throws(ModelError) {
    self.init(
      entityName, where: try Predicate(format: text, arguments: [Value](converting: repeat each arguments)), set: values
    )
  }
}

/// Deletes all saved objects that match a request, past every context.
///
/// Delete rules are applied: what cascades goes too, what nullifies forgets, and an object whose relationship denies its deletion stays.
///
/// ```swift
/// var request = BatchDeleteRequest(try FetchRequest("Event", where: "date < %@", .date(limit)))
/// request.resultType = .objectIDs
/// if let changes = try context.execute(request).changes { try viewContext.mergeChanges(from: changes) }
/// ```
public struct BatchDeleteRequest: Sendable, Hashable {
  /// Which objects go; its order, limit and offset count.
  public var fetchRequest: FetchRequest
  /// What is told when it is done.
  public var resultType = BatchResultType.statusOnly
  /// The objects, where they were named one by one.
  let objectIDs: [ManagedObjectID]?

  /// Makes a request for what a fetch request finds.
  public init(_ fetchRequest: FetchRequest) {
    self.fetchRequest = fetchRequest
    objectIDs = nil
  }

  /// Makes a request for objects of one entity and its subentities. Those that are gone already count as if they had not been named.
  public init(objectIDs: [ManagedObjectID]) {
    fetchRequest = FetchRequest(objectIDs.first?.entityName ?? "", where: Self.condition(objectIDs))
    self.objectIDs = objectIDs
  }

  static func condition(_ ids: [ManagedObjectID]) -> Predicate {
    .comparison(.init(.evaluatedObject, .in, .constant(.list(ids.map(Value.objectID)))))
  }
}

/// Inserts objects, past every context: from a list of dictionaries, or from a closure that fills one after the other.
///
/// Where an object has the unique values of a saved one, the context's merge policy decides: with `.mergeByPropertyObjectTrump` its
/// values go to the saved one (an upsert), with `.error` nothing is inserted.
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
  /// Sets the values of a new object, by the names of persistent attributes; returns true where there is none any more.
  public typealias DictionaryHandler = (inout [String: Value]) throws -> Bool
  /// Sets the attributes of a new object; returns true where there is none any more.
  public typealias ObjectHandler = (ManagedObject) throws -> Bool

  enum Source {
    case dictionaries([[String: Value]])
    case dictionaryHandler(DictionaryHandler)
    case objectHandler(ObjectHandler)
  }

  /// The name of the entity.
  public var entityName: String
  /// What is told when it is done.
  public var resultType = BatchResultType.statusOnly
  let source: Source

  /// Makes a request with the values of each object.
  public init(_ entityName: String, objects: [[String: Value]]) {
    self.entityName = entityName
    source = .dictionaries(objects)
  }

  /// Makes a request with the values of each object, of Swift's types.
  @_disfavoredOverload
  public init(_ entityName: String, objects: [ConvertibleValues]) {
    self.init(entityName, objects: objects.map([String: Value].init))
  }

  /// Makes a request whose closure is asked for the values of one object after the other, until it returns true. What it set then is
  /// not inserted.
  public init(_ entityName: String, dictionaryHandler: @escaping DictionaryHandler) {
    self.entityName = entityName
    source = .dictionaryHandler(dictionaryHandler)
  }

  /// Makes a request whose closure is given one new object after the other, until it returns true. The last one is not inserted.
  /// The objects are of the entity's class, and the handler's only until it returns.
  public init(_ entityName: String, managedObjectHandler: @escaping ObjectHandler) {
    self.entityName = entityName
    source = .objectHandler(managedObjectHandler)
  }
}

/// What a batch request tells when it is done, as much as its `resultType` asks for.
public struct BatchResult: Sendable, Hashable {
  /// How many objects were inserted (or took the values of one), matched the condition of an update, or were deleted because they
  /// matched; nil where only the status was asked for.
  public let count: Int?
  /// These objects; nil where they were not asked for.
  public let objectIDs: [ManagedObjectID]?
  /// All that was written, what delete rules did included, for `mergeChanges(from:)`; nil where object IDs were not asked for.
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
