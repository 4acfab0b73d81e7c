public import MoonbaseGraph
public import MoonbaseModel

// Typed keys in columns, batch requests, observations and histories.

extension FetchColumn {
  /// A column for an attribute, under its path as its name: `FetchColumn(Person.department.name)`.
  public init(_ key: some AttributeKeyPath) { self.init(key.keyPath) }

  /// A column for arithmetic, under a name: `FetchColumn("pay", Person.salary * 12)`.
  public init(_ name: String, _ expression: some AttributeExpression) {
    self.init(name, expression: expression.expression)
  }
}

extension ManagedObjectContext {
  /// Values of a class's objects instead of objects (`fetchDictionaries` of a `FetchRequest`).
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

  /// The IDs of a class's objects that match a request.
  public func fetchIDs<Object: ManagedObject>(_ request: TypedFetchRequest<Object>) throws -> [ManagedObjectID] {
    try fetchIDs(request.request(in: self))
  }

  /// Sets attributes of all saved objects of a class that a condition holds for, past every context
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

  /// Deletes all saved objects of a class that a condition holds for, past every context (`BatchDeleteRequest`).
  @discardableResult
  public func batchDelete<Object: ManagedObject>(
    _ type: Object.Type, where condition: TypedPredicate<Object>, resultType: BatchResultType = .statusOnly
  ) throws -> BatchResult {
    var request = BatchDeleteRequest(try TypedFetchRequest(where: condition).request(in: self))
    request.resultType = resultType
    return try execute(request)
  }
}

/// A value for an attribute of all objects of a batch update: `Person.age.set(to: 3)`.
public struct TypedAssignment<Object: ManagedObject>: Sendable {
  let name: String
  let expression: MoonbaseModel.Expression
}

extension Attribute {
  /// The attribute gets a value.
  public func set(to value: Value) -> TypedAssignment<Owner> {
    TypedAssignment(name: name, expression: .constant(value.attributeValue))
  }

  /// The attribute gets the value of an expression over the object as it was.
  public func set(to expression: some AttributeExpression<Owner, Value>) -> TypedAssignment<Owner> {
    TypedAssignment(name: name, expression: expression.expression)
  }
}

/// A change of an attribute, as a typed observation tells it.
public struct TypedChange<Value> {
  /// The value before.
  public let old: Value
  /// The value now.
  public let new: Value
}

extension TypedObject where Self: ManagedObject {
  /// Calls `handler` each time that an attribute has another value (`observe(_:_:)` with the attribute's name). A value
  /// that cannot be read as the key's type comes as the one that stands for none.
  ///
  /// ```swift
  /// let token = try person.observe(Person.age) { change in print(change.old, "->", change.new) }
  /// ```
  public func observe<T: AttributeValue>(
    _ attribute: Attribute<Self, T>, _ handler: @escaping (TypedChange<T>) -> Void
  ) throws -> Observation {
    try observe(attribute.name) { change in
      handler(TypedChange(old: T.read(change.old) ?? T.missing, new: T.read(change.new) ?? T.missing))
    }
  }
}

extension PersistentHistoryChange {
  /// Whether the change is an update of an attribute.
  public func updates<Owner: ManagedObject, Value: AttributeValue>(_ attribute: Attribute<Owner, Value>) -> Bool {
    updatedProperties.contains(attribute.name)
  }
}
