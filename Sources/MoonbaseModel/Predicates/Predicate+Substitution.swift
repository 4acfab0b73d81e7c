import MoonbasePlatform

extension Predicate {
  /// The predicate with its variables replaced by values. A key path after a variable reads the entry of a map.
  ///
  /// Throws `.evaluation` for a variable without a value and `.invalidPredicate` for a tree that is too deep. Variables
  /// of a SUBQUERY are not replaced.
  @_disfavoredOverload
  public func substituting(_ values: ConvertibleValues) throws(ModelError) -> Predicate {
    try substituting([String: Value](values))
  }

  /// Replaces variables as above, with attribute values.
  public func substituting(_ values: [String: Value]) throws(ModelError) -> Predicate {
    try PredicateLimits.check(.predicate(self))
    return try substituting { name, path throws(ModelError) in
      guard let value = values[name] else {
        let names = values.keys.sorted()
        throw ModelError(.evaluation, message: "there is no value for $\(name)\(suggestion(for: name, among: names))")
      }
      guard case .map = value else { return path.isEmpty ? .value(value) : .keyPath(.constant(value), path) }
      var found = value
      for key in path { found = try found.value(forPredicateKey: key) }
      return .value(found)
    }
  }

  /// The predicate with each variable, together with the key path after it, replaced by an expression. Variables bound
  /// within the predicate are not replaced: those of subqueries, and assigned variables after their assignment.
  package func substituting<Failure: Error>(
    _ replacement: (_ variable: String, _ path: [String]) throws(Failure) -> Expression
  ) throws(Failure) -> Predicate {
    var bound: Set<String> = []
    return try mapped(&bound, replacement)
  }

  /// The names of the variables that need a value, in order of appearance, without those of subqueries and those
  /// assigned earlier by `$NAME := expression`. Empty for a tree that is too deep to be evaluated.
  public var freeVariables: [String] {
    if PredicateNode.predicate(self).isTooDeep { return [] }
    var found: [String] = []
    _ = substituting { name, path in
      if !found.contains(name) { found.append(name) }
      return path.isEmpty ? .variable(name) : .keyPath(.variable(name), path)
    }
    return found
  }

  /// The predicate with free variables replaced. `bound` are the variables bound so far.
  fileprivate func mapped<Failure: Error>(
    _ bound: inout Set<String>, _ value: (String, [String]) throws(Failure) -> Expression
  ) throws(Failure) -> Predicate {
    switch self {
    case .constant: return self
    case .comparison(var comparison):
      comparison.left = try comparison.left.mapped(&bound, value)
      comparison.right = try comparison.right.mapped(&bound, value)
      return .comparison(comparison)
    case .and(let parts): return .and(try Self.mapped(parts, bound: &bound, value))
    case .or(let parts): return .or(try Self.mapped(parts, bound: &bound, value))
    case .not(let inner): return .not(try inner.mapped(&bound, value))
    }
  }

  /// The predicates with free variables replaced, in order.
  private static func mapped<Failure: Error>(
    _ parts: [Predicate], bound: inout Set<String>, _ value: (String, [String]) throws(Failure) -> Expression
  ) throws(Failure) -> [Predicate] {
    var result: [Predicate] = []
    for part in parts { result.append(try part.mapped(&bound, value)) }
    return result
  }
}

extension Expression {
  /// The expression with free variables replaced.
  fileprivate func mapped<Failure: Error>(
    _ bound: inout Set<String>, _ value: (String, [String]) throws(Failure) -> Expression
  ) throws(Failure) -> Expression {
    switch self {
    case .constant, .evaluatedObject, .anyKey: return self
    case .variable(let name): return bound.contains(name) ? self : try value(name, [])
    case .keyPath(.variable(let name), let components):
      return bound.contains(name) ? self : try value(name, components)
    case .keyPath(let base, let components): return .keyPath(try base.mapped(&bound, value), components)
    case .function(let name, let arguments): return .function(name, try Self.mapped(arguments, bound: &bound, value))
    case .aggregate(let elements): return .aggregate(try Self.mapped(elements, bound: &bound, value))
    case .subquery(let collection, let variable, let condition):
      let source = try collection.mapped(&bound, value)
      let isNew = bound.insert(variable).inserted
      defer { if isNew { bound.remove(variable) } }
      return .subquery(source, variable: variable, try condition.mapped(&bound, value))
    case .conditional(let condition, let then, let otherwise):
      return .conditional(
        try condition.mapped(&bound, value), try then.mapped(&bound, value), try otherwise.mapped(&bound, value))
    case .assignment(let name, let assigned):
      let mapped = try assigned.mapped(&bound, value)
      bound.insert(name)
      return .assignment(name, mapped)
    }
  }

  /// The expressions with free variables replaced, in order.
  private static func mapped<Failure: Error>(
    _ expressions: [Expression], bound: inout Set<String>, _ value: (String, [String]) throws(Failure) -> Expression
  ) throws(Failure) -> [Expression] {
    var result: [Expression] = []
    for expression in expressions { result.append(try expression.mapped(&bound, value)) }
    return result
  }
}
