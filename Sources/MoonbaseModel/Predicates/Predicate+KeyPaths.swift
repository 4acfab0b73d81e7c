extension Predicate {
  /// The key paths from the evaluated object that the predicate reads, each once, in order of appearance. Those of a
  /// subquery's variable are given behind the path of its collection. A tree that is too deep to be evaluated reads none.
  public var keyPaths: [[String]] {
    if PredicateNode.predicate(self).isTooDeep { return [] }
    var collector = KeyPathCollector()
    collector.visit(self)
    return collector.paths
  }
}

/// Gathers the key paths of a tree.
struct KeyPathCollector {
  private(set) var paths: [[String]] = []
  private var variables: [String: [String]] = [:]

  mutating func visit(_ predicate: Predicate) {
    switch predicate {
    case .constant: break
    case .comparison(let comparison):
      visit(comparison.left)
      visit(comparison.right)
    case .and(let parts), .or(let parts): for part in parts { visit(part) }
    case .not(let inner): visit(inner)
    }
  }

  mutating func visit(_ expression: Expression) {
    switch expression {
    case .constant, .evaluatedObject, .anyKey, .variable: break
    case .keyPath(let base, _):
      visit(base)
      if let path = path(of: expression) { add(path) }
    case .function(_, let arguments): for argument in arguments { visit(argument) }
    case .aggregate(let elements): for element in elements { visit(element) }
    case .subquery(let collection, let variable, let condition):
      visit(collection)
      let outer = variables[variable]
      variables[variable] = path(of: collection)
      visit(condition)
      variables[variable] = outer
    case .conditional(let condition, let then, let otherwise):
      visit(condition)
      visit(then)
      visit(otherwise)
    case .assignment(_, let value): visit(value)
    }
  }

  /// The path of an expression from the evaluated object, without operators such as `@count`.
  private func path(of expression: Expression) -> [String]? {
    switch expression {
    case .evaluatedObject: []
    case .variable(let name): variables[name]
    case .keyPath(let base, let components): path(of: base).map { $0 + components.filter { !$0.hasPrefix("@") } }
    case .subquery(let collection, _, _): path(of: collection)
    default: nil
    }
  }

  private mutating func add(_ path: [String]) {
    if !path.isEmpty, !paths.contains(path) { paths.append(path) }
  }
}
