public import MoonbaseGraph
public import MoonbaseBatchRequests
public import MoonbaseModel

// Typed keys for columns, batch requests, observations and history.

extension FetchColumn {
  /// Makes a column for an attribute, named by its path: `FetchColumn(Person.department.name)`.
  public init(_ key: some AttributeKeyPath) { self.init(key.keyPath) }

  /// Makes a named column for arithmetic: `FetchColumn("pay", Person.salary * 12)`.
  public init(_ name: String, _ expression: some AttributeExpression) {
    self.init(name, expression: expression.expression)
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

/// An assignment in a batch update: `Person.age.set(to: 3)`.
public struct TypedAssignment<Object: ManagedObject>: Sendable {
  let name: String
  let expression: MoonbaseModel.Expression
}

extension Attribute {
  /// Assigns a value to the attribute.
  public func set(to value: Value) -> TypedAssignment<Owner> {
    TypedAssignment(name: name, expression: .constant(value.attributeValue))
  }

  /// Assigns the result of an expression over the former values of the object.
  public func set(to expression: some AttributeExpression<Owner, Value>) -> TypedAssignment<Owner> {
    TypedAssignment(name: name, expression: expression.expression)
  }
}

/// A change of an attribute, as a typed observation reports it.
public struct TypedChange<Value> {
  /// The former value.
  public let old: Value
  /// The new value.
  public let new: Value
}

extension TypedObject where Self: ManagedObject {
  /// Calls `handler` each time that an attribute changes its value (`observe(_:_:)` with the attribute's name).
  ///
  /// A value that cannot be read as the key's type is replaced by the type's `missing`.
  ///
  /// ```swift
  /// let token = try person.observe(Person.age) { change in print(change.old, "->", change.new) }
  /// ```
  public func observe<T: AttributeValue>(
    _ attribute: Attribute<Self, T>, _ handler: @escaping (TypedChange<T>) -> Void
  ) throws -> Observation {
    try observe(attribute.name) { change in
      handler(TypedChange(old: T.read(change.old) ?? T.defaultWhenNull, new: T.read(change.new) ?? T.defaultWhenNull))
    }
  }
}

extension PersistentHistoryChange {
  /// Whether the change updated an attribute.
  public func updates<Owner: ManagedObject, Value: AttributeValue>(_ attribute: Attribute<Owner, Value>) -> Bool {
    updatedProperties.contains(attribute.name)
  }
}
