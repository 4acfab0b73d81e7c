extension Predicate {
  /// The key paths from the evaluated object that the predicate reads, without duplicates, in order of appearance.
  /// Paths of a subquery's variable follow the path of its collection. Empty for a tree that is too deep to be
  /// evaluated.
  public var keyPaths: [[String]] {
    var paths: [[String]] = []
    var known: Set<[String]> = []
    forEachKeyPath { if known.insert($0).inserted { paths.append($0) } }
    return paths
  }

  /// Calls `body` for each key path, duplicates included. The paths are not collected.
  package func forEachKeyPath<Failure>(_ body: ([String]) throws(Failure) -> Void) throws(Failure) {
    if PredicateNode.predicate(self).isTooDeep { return }
    var walk = KeyPathWalk()
    try walk.visit(self, body)
  }
}

/// A traversal of a tree's key paths.
struct KeyPathWalk {
  /// The path that each variable of a subquery stands for.
  private var variables: [String: [String]] = [:]

  /// Visits a predicate. Errors of `body` are passed on.
  mutating func visit<Failure>(
    _ predicate: Predicate, _ body: ([String]) throws(Failure) -> Void
  ) throws(Failure) {
    switch predicate {
    case .constant: break
    case .comparison(let comparison):
      try visit(comparison.left, body)
      try visit(comparison.right, body)
    case .and(let parts), .or(let parts): for part in parts { try visit(part, body) }
    case .not(let inner): try visit(inner, body)
    }
  }

  /// Visits an expression and its parts.
  private mutating func visit<Failure>(
    _ expression: Expression, _ body: ([String]) throws(Failure) -> Void
  ) throws(Failure) {
    switch expression {
    case .constant, .evaluatedObject, .anyKey, .variable: break
    case .keyPath(let base, _):
      try visit(base, body)
      if let path = path(of: expression), !path.isEmpty { try body(path) }
    case .function(_, let arguments): for argument in arguments { try visit(argument, body) }
    case .aggregate(let elements): for element in elements { try visit(element, body) }
    case .subquery(let collection, let variable, let condition):
      try visit(collection, body)
      let outer = variables[variable]
      variables[variable] = path(of: collection)
      try visit(condition, body)
      variables[variable] = outer
    case .conditional(let condition, let then, let otherwise):
      try visit(condition, body)
      try visit(then, body)
      try visit(otherwise, body)
    case .assignment(_, let value): try visit(value, body)
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
}
