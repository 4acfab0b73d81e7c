import MoonbasePlatform

extension Predicate {
  /// The predicate with expressions replaced if the closure returns a replacement. Outer expressions are replaced
  /// first.
  ///
  /// A replaced expression is not searched again.
  package func replacing(_ replacement: (Expression) -> Expression?) -> Predicate {
    switch self {
    case .constant: return self
    case .comparison(var comparison):
      comparison.left = comparison.left.replacing(replacement)
      comparison.right = comparison.right.replacing(replacement)
      return .comparison(comparison)
    case .and(let parts): return .and(parts.map { $0.replacing(replacement) })
    case .or(let parts): return .or(parts.map { $0.replacing(replacement) })
    case .not(let inner): return .not(inner.replacing(replacement))
    }
  }
}

extension Expression {
  /// The expression, replaced as a whole or in parts if the closure returns a replacement. Outer expressions are
  /// replaced first.
  ///
  /// A replaced expression is not searched again.
  package func replacing(_ replacement: (Expression) -> Expression?) -> Expression {
    if let other = replacement(self) { return other }
    switch self {
    case .constant, .evaluatedObject, .variable, .anyKey: return self
    case .keyPath(let base, let components): return .keyPath(base.replacing(replacement), components)
    case .function(let name, let arguments): return .function(name, arguments.map { $0.replacing(replacement) })
    case .aggregate(let elements): return .aggregate(elements.map { $0.replacing(replacement) })
    case .subquery(let collection, let variable, let condition):
      return .subquery(
        collection.replacing(replacement), variable: variable, condition.replacing(replacement))
    case .conditional(let condition, let then, let otherwise):
      return .conditional(
        condition.replacing(replacement), then.replacing(replacement), otherwise.replacing(replacement))
    case .assignment(let name, let value): return .assignment(name, value.replacing(replacement))
    }
  }

  /// Whether the expression is or contains a function over the rows of a group.
  ///
  /// For example, `@sum.age` or `sum:(age)`, also within arithmetic.
  package var hasGroupFunction: Bool {
    var isFound = false
    _ = replacing { part in
      HostWork.note()
      if part.groupFunction != nil { isFound = true }
      return isFound ? part : nil
    }
    return isFound
  }
}
