extension Predicate {
  /// The predicate with its variables replaced by values; a key path behind a variable that is a map gives the entry.
  ///
  /// Throws `.evaluation` where a variable has no value. Variables of a SUBQUERY are its own and stay.
  public func substituting(_ values: [String: Value]) throws(ModelError) -> Predicate {
    try substituting { name, path throws(ModelError) in
      guard let value = values[name] else {
        let names = values.keys.sorted()
        throw ModelError(.evaluation, "there is no value for $\(name)\(suggestion(for: name, among: names))")
      }
      guard case .map = value else { return path.isEmpty ? .value(value) : .keyPath(.constant(value), path) }
      var found = value
      for key in path { found = try found.value(forPredicateKey: key) }
      return .value(found)
    }
  }

  /// The predicate with each variable, and whatever key path stands behind it, replaced by an expression.
  package func substituting<Failure: Error>(
    _ replacement: (_ variable: String, _ path: [String]) throws(Failure) -> Expression
  ) throws(Failure) -> Predicate { try mapped(bound: [], replacement) }

  /// The names of the variables that need a value, without those of subqueries, in order of appearance.
  public var freeVariables: [String] {
    var found: [String] = []
    _ = mapped(bound: []) { name, path in
      if !found.contains(name) { found.append(name) }
      return path.isEmpty ? .variable(name) : .keyPath(.variable(name), path)
    }
    return found
  }

  fileprivate func mapped<Failure: Error>(
    bound: Set<String>, _ value: (String, [String]) throws(Failure) -> Expression
  ) throws(Failure) -> Predicate {
    switch self {
    case .constant: return self
    case .comparison(var comparison):
      comparison.left = try comparison.left.mapped(bound: bound, value)
      comparison.right = try comparison.right.mapped(bound: bound, value)
      return .comparison(comparison)
    case .and(let parts): return .and(try parts.map { part throws(Failure) in try part.mapped(bound: bound, value) })
    case .or(let parts): return .or(try parts.map { part throws(Failure) in try part.mapped(bound: bound, value) })
    case .not(let inner): return .not(try inner.mapped(bound: bound, value))
    }
  }
}

extension Expression {
  fileprivate func mapped<Failure: Error>(
    bound: Set<String>, _ value: (String, [String]) throws(Failure) -> Expression
  ) throws(Failure) -> Expression {
    func inner(_ expression: Expression) throws(Failure) -> Expression { try expression.mapped(bound: bound, value) }
    switch self {
    case .constant, .evaluatedObject, .anyKey: return self
    case .variable(let name): return bound.contains(name) ? self : try value(name, [])
    case .keyPath(.variable(let name), let components):
      return bound.contains(name) ? self : try value(name, components)
    case .keyPath(let base, let components): return .keyPath(try inner(base), components)
    case .function(let name, let arguments): return .function(name, try arguments.map(inner))
    case .aggregate(let elements): return .aggregate(try elements.map(inner))
    case .subquery(let collection, let variable, let condition):
      return .subquery(
        try inner(collection), variable: variable, try condition.mapped(bound: bound.union([variable]), value))
    case .conditional(let condition, let then, let otherwise):
      return .conditional(try condition.mapped(bound: bound, value), try inner(then), try inner(otherwise))
    case .assignment(let name, let assigned): return .assignment(name, try inner(assigned))
    }
  }
}
