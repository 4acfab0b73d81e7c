extension Predicate {
  /// The predicate with its variables replaced by values.
  ///
  /// Throws `.evaluation` where a variable has no value. Variables of a SUBQUERY are its own and stay.
  public func substituting(_ values: [String: Value]) throws(ModelError) -> Predicate {
    try mapped(bound: []) { name throws(ModelError) in
      guard let value = values[name] else {
        let names = values.keys.sorted()
        throw ModelError(
          .evaluation, "there is no value for $\(name)\(suggestion(for: name, among: names))")
      }
      return .value(value)
    }
  }

  /// The names of the variables that need a value, without those of subqueries, in order of appearance.
  public var freeVariables: [String] {
    var found: [String] = []
    _ = try? mapped(bound: []) { name throws(ModelError) in
      if !found.contains(name) { found.append(name) }
      return .variable(name)
    }
    return found
  }

  private func mapped(
    bound: Set<String>, _ value: (String) throws(ModelError) -> Expression
  ) throws(ModelError) -> Predicate {
    switch self {
    case .constant: return self
    case .comparison(var comparison):
      comparison.left = try comparison.left.mapped(bound: bound, value)
      comparison.right = try comparison.right.mapped(bound: bound, value)
      return .comparison(comparison)
    case .and(let parts): return .and(try parts.map { part throws(ModelError) in try part.mapped(bound: bound, value) })
    case .or(let parts): return .or(try parts.map { part throws(ModelError) in try part.mapped(bound: bound, value) })
    case .not(let inner): return .not(try inner.mapped(bound: bound, value))
    }
  }

  fileprivate func mappedInside(
    _ bound: Set<String>, _ value: (String) throws(ModelError) -> Expression
  ) throws(ModelError) -> Predicate { try mapped(bound: bound, value) }
}

extension Expression {
  fileprivate func mapped(
    bound: Set<String>, _ value: (String) throws(ModelError) -> Expression
  ) throws(ModelError) -> Expression {
    func inner(_ expression: Expression) throws(ModelError) -> Expression { try expression.mapped(bound: bound, value) }
    switch self {
    case .constant, .evaluatedObject, .anyKey: return self
    case .variable(let name): return bound.contains(name) ? self : try value(name)
    case .keyPath(let base, let components): return .keyPath(try inner(base), components)
    case .function(let name, let arguments): return .function(name, try arguments.map(inner))
    case .aggregate(let elements): return .aggregate(try elements.map(inner))
    case .subquery(let collection, let variable, let condition):
      return .subquery(
        try inner(collection), variable: variable, try condition.mappedInside(bound.union([variable]), value))
    case .conditional(let condition, let then, let otherwise):
      return .conditional(try condition.mappedInside(bound, value), try inner(then), try inner(otherwise))
    case .assignment(let name, let assigned): return .assignment(name, try inner(assigned))
    }
  }
}
