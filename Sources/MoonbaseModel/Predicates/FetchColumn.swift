/// A column of dictionary results: a property, or an expression under a name.
///
/// ```swift
/// request.propertiesToFetch = [FetchColumn("department"), FetchColumn("total", expression: try Expression(format: "@sum.salary"))]
/// ```
public struct FetchColumn: Sendable, Hashable {
  /// The key in the dictionaries.
  public var name: String
  /// What is computed. `@sum.age` and its kin, and functions such as `sum:(age)`, are over the rows of a group.
  public var expression: Expression
  /// The type that the result is given in; nil leaves it as it is computed.
  public var resultType: AttributeType?

  /// A column for a key path, under the path as its name.
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
  /// A column for a key path that is written out: `propertiesToFetch = ["name", "boss.name"]`.
  public init(stringLiteral keyPath: String) { self.init(keyPath) }
}
