extension Predicate {
  /// Reads a predicate in Core Data's format language. Placeholders `%@`, `%K`, `%d` and so on take the arguments in
  /// turn.
  ///
  /// ```swift
  /// let adults = try Predicate(format: "age BETWEEN {%d, %d} AND name CONTAINS[cd] %@", 18, 65, "é")
  /// ```
  /// Throws `ModelError` with `.invalidPredicate`. The message names the column and the expected text.
  public init(format: String, _ arguments: Value...) throws(ModelError) {
    self = try PredicateParser.predicate(format, arguments: arguments)
  }

  /// Reads a predicate in Core Data's format language, with arguments of Swift types.
  ///
  /// ```swift
  /// let recent = try Predicate(format: "age > %@ AND born > %@", age, lastWeek)
  /// ```
  @_disfavoredOverload
  public init<each Argument: ValueConvertible>(format: String, _ arguments: repeat each Argument) throws(ModelError) {
    try self.init(format: format, arguments: [Value](converting: repeat each arguments))
  }

  /// Reads a predicate in Core Data's format language, with its arguments in an array.
  ///
  /// Throws `ModelError` with `.invalidPredicate`, also if the number of arguments is not that of
  /// placeholders.
  public init(format: String, arguments: [Value]) throws(ModelError) {
    self = try PredicateParser.predicate(format, arguments: arguments)
  }
}

extension Expression {
  /// Reads an expression in Core Data's format language.
  ///
  /// Throws `ModelError` with `.invalidPredicate`. A condition is no expression.
  public init(format: String, _ arguments: Value...) throws(ModelError) {
    self = try PredicateParser.expression(format, arguments: arguments)
  }

  /// Reads an expression in Core Data's format language, with arguments of Swift types.
  @_disfavoredOverload
  public init<each Argument: ValueConvertible>(format: String, _ arguments: repeat each Argument) throws(ModelError) {
    self = try PredicateParser.expression(format, arguments: [Value](converting: repeat each arguments))
  }

  /// The expression for a value. A list becomes an aggregate, as if it were written in the text, unless it is nested
  /// too deeply for use.
  public static func value(_ value: Value) -> Expression {
    value.isNestedTooDeeply ? .constant(value) : aggregate(of: value)
  }

  /// The list as an aggregate of its elements, recursively.
  private static func aggregate(of value: Value) -> Expression {
    if case .list(let elements) = value { .aggregate(elements.map(aggregate)) } else { .constant(value) }
  }

  /// The elements of a list, literal or argument; nil for other expressions.
  package var elements: [Expression]? {
    switch self {
    case .aggregate(let elements): elements
    case .constant(.list(let values)): values.map(Expression.value)
    default: nil
    }
  }

  /// Whether an element is itself a list.
  var holdsList: Bool { elements?.contains { $0.elements != nil } ?? false }

  /// The key path that continues this expression.
  ///
  /// For example, `department` continued by `name` is `department.name`.
  func appending(_ components: [String]) -> Expression {
    if case .keyPath(let base, let path) = self { return .keyPath(base, path + components) }
    return .keyPath(self, components)
  }
}

extension FetchRequest {
  /// A request from predicate text with placeholders.
  ///
  /// ```swift
  /// let request = try FetchRequest("Person", where: "age BETWEEN {100, 200}")
  /// ```
  ///
  /// Throws `ModelError` with `.invalidPredicate`, as `Predicate(format:_:)` does.
  public init(_ entityName: String, where text: String, _ arguments: Value...) throws(ModelError) {
    self.init(entityName, where: try PredicateParser.predicate(text, arguments: arguments))
  }

  /// A request from predicate text with placeholders for values of Swift types.
  @_disfavoredOverload
  public init<each Argument: ValueConvertible>(
    _ entityName: String, where text: String, _ arguments: repeat each Argument
  ) throws(ModelError) {
    self.init(
      entityName, where: try PredicateParser.predicate(text, arguments: [Value](converting: repeat each arguments)))
  }
}
