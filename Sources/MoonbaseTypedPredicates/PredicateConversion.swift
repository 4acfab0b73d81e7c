import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// An expression of Foundation's predicates that has a counterpart.
protocol ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart
}

/// What an expression of Foundation's became.
struct ConvertedPart {
  enum Form {
    case value(Expression)
    /// A truth value; `presence` says where it has one, if it may have none.
    case condition(Predicate, presence: Predicate?)
  }

  var form: Form
  /// Whether there may be no value.
  var isOptional = false
  /// Whether it is the objects of a to-many relationship.
  var isToMany = false

  static func value(_ expression: Expression, isOptional: Bool = false) -> Self {
    ConvertedPart(form: .value(expression), isOptional: isOptional)
  }

  static func condition(_ predicate: Predicate) -> Self { ConvertedPart(form: .condition(predicate, presence: nil)) }

  /// The value where it is a constant one.
  var constant: Value? {
    if case .value(.constant(let value)) = form { value } else { nil }
  }

  /// Where there is a value; nil for everywhere.
  var presence: Predicate? {
    switch form {
    case .value(let expression): isOptional && constant == nil ? expression.isThere : nil
    case .condition(_, let presence): presence
    }
  }
}

extension Expression {
  /// That the expression has a value.
  var isThere: Predicate { .comparison(.init(self, .notEqual, .constant(.null))) }
  /// That it has none.
  var isMissing: Predicate { .comparison(.init(self, .equal, .constant(.null))) }
}

/// Foundation's predicates on their way to those of fetches.
///
/// A fetch knows a third truth value, for comparisons with what is missing, and Swift does not: `nickname != "x"` holds for who has none.
/// So that a fetch finds what the predicate says, what may be missing is asked for beside such comparisons; where a comparison is only a
/// part of what must hold, and no match is no match, that is left out.
struct PredicateConversion {
  /// What variables stand for.
  private var variables: [PredicateExpressions.VariableID: ConvertedPart] = [:]
  private var count = 0
  private var depth = 0
  /// Whether what does not hold for a missing value may just be unknown.
  private(set) var isPositive = true

  /// The condition of a predicate over objects.
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

  mutating func part(_ expression: Any) throws -> ConvertedPart {
    guard let convertible = expression as? any ConvertiblePart else {
      throw refusal("\(Self.name(of: expression)) has no counterpart in a fetch")
    }
    // What is deeper than a fetch takes is refused before it ends the stack.
    guard depth < TreeLimits.greatestDepth else { throw refusal("it is nested more than \(depth) levels deep") }
    depth += 1
    defer { depth -= 1 }
    return try convertible.converted(&self)
  }

  /// A part that is a value.
  mutating func value(_ expression: Any) throws -> Expression {
    let part = try part(expression)
    switch part.form {
    case .value(let value): return value
    case .condition(let condition, _):
      return .conditional(condition, .constant(.bool(true)), .constant(.bool(false)))
    }
  }

  /// A part that is a condition; one that has no truth value does not hold.
  mutating func condition(_ expression: Any) throws -> Predicate { Self.condition(try part(expression)) }

  static func condition(_ part: ConvertedPart) -> Predicate {
    switch part.form {
    case .condition(let condition, let presence?): .and([presence, condition])
    case .condition(let condition, nil): condition
    case .value(.constant(.bool(let truth))): .constant(truth)
    case .value(let value): .comparison(.init(value, .equal, .constant(.bool(true))))
    }
  }

  /// Converts where what is unknown must be false.
  mutating func decided<Result>(_ body: (inout Self) throws -> Result) rethrows -> Result {
    let former = isPositive
    isPositive = false
    defer { isPositive = former }
    return try body(&self)
  }

  // MARK: Variables

  func meaning(of variable: PredicateExpressions.VariableID) throws -> ConvertedPart {
    guard let meaning = variables[variable] else { throw refusal("it names a variable of another predicate") }
    return meaning
  }

  mutating func binding<Result>(
    _ variable: PredicateExpressions.VariableID, to part: ConvertedPart, _ body: (inout Self) throws -> Result
  ) rethrows -> Result {
    variables[variable] = part
    defer { variables[variable] = nil }
    return try body(&self)
  }

  /// A name for the variable of a subquery.
  mutating func newName() -> String {
    count += 1
    return "element\(count)"
  }

  // MARK: Errors

  func refusal(_ message: String) -> GraphError { GraphError(.predicateMismatch, message: message) }

  /// `TypeCheck` of `PredicateExpressions.TypeCheck<…>`.
  static func name(of expression: Any) -> String {
    let name = String(reflecting: type(of: expression)).prefix { $0 != "<" }
    return name.split(separator: ".").last.map(String.init) ?? String(name)
  }
}
