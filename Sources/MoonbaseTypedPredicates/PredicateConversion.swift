import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// An expression of Foundation's predicates that can be converted.
protocol ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart
}

/// The result of converting an expression of Foundation.
struct ConvertedPart {
  enum Form {
    case value(Expression)
    /// A condition; `presence` is the condition under which it has a truth value, nil if it always has.
    case condition(Predicate, presence: Predicate?)
  }

  var form: Form
  /// Whether the value may be missing.
  var isOptional = false
  /// Whether the result is the members of a to-many relationship.
  var isToMany = false

  static func value(_ expression: Expression, isOptional: Bool = false) -> Self {
    ConvertedPart(form: .value(expression), isOptional: isOptional)
  }

  static func condition(_ predicate: Predicate) -> Self { ConvertedPart(form: .condition(predicate, presence: nil)) }

  /// The constant value; nil for any other expression.
  var constant: Value? {
    if case .value(.constant(let value)) = form { value } else { nil }
  }

  /// The condition under which there is a value; nil if there always is.
  var presence: Predicate? {
    switch form {
    case .value(let expression): isOptional && constant == nil ? expression.isThere : nil
    case .condition(_, let presence): presence
    }
  }
}

extension Expression {
  /// The condition that the expression has a value.
  var isThere: Predicate { .comparison(.init(self, .notEqual, .constant(.null))) }
  /// The condition that the expression has no value.
  var isMissing: Predicate { .comparison(.init(self, .equal, .constant(.null))) }
}

/// Converts Foundation's predicates to predicates of fetches.
///
/// In a fetch, a comparison with a missing value is unknown, a third truth value that Swift lacks: in Swift,
/// `nickname != "x"` is true without a nickname. To give the same results, a conversion adds tests for missing values
/// to such comparisons. The tests are omitted where an unknown result has the same effect as false.
struct PredicateConversion {
  /// The meanings of variables.
  private var variables: [PredicateExpressions.VariableID: ConvertedPart] = [:]
  private var count = 0
  private var depth = 0
  /// Whether an unknown result may stand for false.
  private(set) var isPositive = true

  /// Converts a predicate over objects.
  static func condition<Input>(_ predicate: FoundationPredicate<Input>) throws -> Predicate {
    var conversion = PredicateConversion()
    conversion.variables[predicate.variable.key] = .value(.evaluatedObject)
    do {
      return try conversion.condition(predicate.expression)
    } catch var error as GraphError {
      error.message = "#Predicate over \(Input.self): \(error.message)"
      throw error
    }
  }

  // MARK: Parts

  /// Converts an expression. Throws `.predicateMismatch` if a fetch does not support it.
  mutating func part(_ expression: Any) throws -> ConvertedPart {
    guard let convertible = expression as? any ConvertiblePart else {
      throw refusal(
        "\(Self.name(of: expression)) has no counterpart in a fetch: write this condition as a text or with typed keys, or "
          + "filter the fetched objects")
    }
    // Nesting beyond the limit of a fetch is refused before it exhausts the stack.
    guard depth < TreeLimits.greatestDepth else { throw refusal("it is nested more than \(depth) levels deep") }
    depth += 1
    defer { depth -= 1 }
    return try convertible.converted(&self)
  }

  /// Converts an expression to a value.
  mutating func value(_ expression: Any) throws -> Expression {
    let part = try part(expression)
    switch part.form {
    case .value(let value): return value
    case .condition(let condition, _):
      return .conditional(condition, .constant(.bool(true)), .constant(.bool(false)))
    }
  }

  /// Converts an expression to a condition, which is false if its truth value is missing.
  mutating func condition(_ expression: Any) throws -> Predicate { Self.condition(try part(expression)) }

  /// A converted part as a condition, which is false if its truth value is missing.
  static func condition(_ part: ConvertedPart) -> Predicate {
    switch part.form {
    case .condition(let condition, let presence?): .and([presence, condition])
    case .condition(let condition, nil): condition
    case .value(.constant(.bool(let truth))): .constant(truth)
    case .value(let value): .comparison(.init(value, .equal, .constant(.bool(true))))
    }
  }

  /// Converts expressions whose unknown results must be false.
  mutating func decided<Result>(_ body: (inout Self) throws -> Result) rethrows -> Result {
    let former = isPositive
    isPositive = false
    defer { isPositive = former }
    return try body(&self)
  }

  // MARK: Variables

  /// The meaning of a variable. Throws for a variable of another predicate.
  func meaning(of variable: PredicateExpressions.VariableID) throws -> ConvertedPart {
    guard let meaning = variables[variable] else { throw refusal("it names a variable of another predicate") }
    return meaning
  }

  /// Runs `body` with a meaning for a variable.
  mutating func binding<Result>(
    _ variable: PredicateExpressions.VariableID, to part: ConvertedPart, _ body: (inout Self) throws -> Result
  ) rethrows -> Result {
    variables[variable] = part
    defer { variables[variable] = nil }
    return try body(&self)
  }

  /// Makes a name for the variable of a subquery.
  mutating func newName() -> String {
    count += 1
    return "element\(count)"
  }

  // MARK: Errors

  /// The error for an expression that cannot be converted.
  func refusal(_ message: String) -> GraphError { GraphError(.predicateMismatch, message: message) }

  /// The name of an expression's type without its parameters: `TypeCheck` for `PredicateExpressions.TypeCheck<…>`.
  static func name(of expression: Any) -> String {
    let name = String(reflecting: type(of: expression)).prefix { $0 != "<" }
    return name.split(separator: ".").last.map(String.init) ?? String(name)
  }
}
