/// A column of dictionary results: a property, or an expression under a name.
///
/// ```swift
/// let total = FetchColumn("total", expression: try Expression(format: "@sum.salary"))
/// request.propertiesToFetch = [FetchColumn("department"), total]
/// ```
public struct FetchColumn: Sendable, Hashable {
  /// The key in the dictionaries.
  public var name: String
  /// The computed expression. Operators such as `@sum.age` and functions such as `sum:(age)` run over the rows of a
  /// group.
  public var expression: Expression
  /// The type to which the result is converted; nil leaves the computed type.
  public var resultType: AttributeType?

  /// A column for a key path, which is also its name.
  public init(_ keyPath: String) {
    name = keyPath
    expression = .keyPath(keyPath)
  }

  /// A column for an expression.
  public init(_ name: String, expression: Expression, resultType: AttributeType? = nil) {
    self.name = name
    self.expression = expression
    self.resultType = resultType
  }
}

extension FetchColumn: ExpressibleByStringLiteral {
  /// A column from a literal key path: `propertiesToFetch = ["name", "boss.name"]`.
  public init(stringLiteral keyPath: String) { self.init(keyPath) }
}
