/// An expression of a predicate, as a value.
///
/// ```swift
/// let total = try Expression(format: "items.@sum.price * %@", 1.19)
/// let name = Expression.keyPath("department.name")
/// ```
public indirect enum Expression: Sendable, Hashable {
  /// A literal, or the argument of a placeholder.
  case constant(Value)
  /// `SELF`.
  case evaluatedObject
  /// `$NAME`.
  case variable(String)
  /// A key path from a base: `name`, `department.manager.name`, `items.@sum.price`, `SUBQUERY(...).@count`,
  /// `$x.name`. The base of a plain key path is `.evaluatedObject`; components are never empty.
  case keyPath(Expression, [String])
  /// A call of a predefined function by its NSExpression name, for example `add:to:` for `a + b` and `uppercase:`.
  case function(String, [Expression])
  /// `{a, b, c}`.
  case aggregate([Expression])
  /// `SUBQUERY(collection, $variable, predicate)`.
  case subquery(Expression, variable: String, Predicate)
  /// `TERNARY(predicate, then, else)`.
  case conditional(Predicate, Expression, Expression)
  /// `$NAME := expression`.
  case assignment(String, Expression)
  /// `ANYKEY`.
  case anyKey

  /// A key path from the evaluated object, given as `a.b.c`.
  public static func keyPath(_ path: String) -> Expression {
    .keyPath(.evaluatedObject, path.split(separator: ".").map(String.init))
  }
}
