/// A node of a predicate's tree, predicate or expression, for walking trees of any depth without recursion.
enum PredicateNode {
  /// A condition.
  case predicate(Predicate)
  /// An expression.
  case expression(Expression)

  /// The parts in order.
  var parts: [PredicateNode] {
    switch self {
    case .predicate(let predicate):
      switch predicate {
      case .constant: []
      case .comparison(let comparison): [.expression(comparison.left), .expression(comparison.right)]
      case .and(let parts), .or(let parts): parts.map(PredicateNode.predicate)
      case .not(let inner): [.predicate(inner)]
      }
    case .expression(let expression):
      switch expression {
      case .constant, .evaluatedObject, .variable, .anyKey: []
      case .keyPath(let base, _): [.expression(base)]
      case .function(_, let arguments): arguments.map(PredicateNode.expression)
      case .aggregate(let elements): elements.map(PredicateNode.expression)
      case .subquery(let collection, _, let condition): [.expression(collection), .predicate(condition)]
      case .conditional(let condition, let then, let otherwise):
        [.predicate(condition), .expression(then), .expression(otherwise)]
      case .assignment(_, let value): [.expression(value)]
      }
    }
  }

  /// The node without its parts.
  ///
  /// Two nodes with equal heads and equal parts are equal.
  private enum Head: Hashable {
    case constant(Bool), and(Int), or(Int), not
    case comparison(Predicate.Comparison.Operator, Predicate.Comparison.Modifier, Predicate.Comparison.Options)
    case value(Value), evaluatedObject, variable(String), anyKey, keyPath([String]), function(String, Int)
    case aggregate(Int), subquery(String), conditional, assignment(String)
  }

  /// The kind and the settings of the node.
  private var head: Head {
    switch self {
    case .predicate(let predicate):
      switch predicate {
      case .constant(let value): .constant(value)
      case .comparison(let comparison): .comparison(comparison.operator, comparison.modifier, comparison.options)
      case .and(let parts): .and(parts.count)
      case .or(let parts): .or(parts.count)
      case .not: .not
      }
    case .expression(let expression):
      switch expression {
      case .constant(let value): .value(value)
      case .evaluatedObject: .evaluatedObject
      case .variable(let name): .variable(name)
      case .keyPath(_, let components): .keyPath(components)
      case .function(let name, let arguments): .function(name, arguments.count)
      case .aggregate(let elements): .aggregate(elements.count)
      case .subquery(_, let variable, _): .subquery(variable)
      case .conditional: .conditional
      case .assignment(let name, _): .assignment(name)
      case .anyKey: .anyKey
      }
    }
  }

  /// Whether two trees are equal.
  func isSame(as other: PredicateNode) -> Bool {
    var pending = [(self, other)]
    while let (left, right) = pending.popLast() {
      // Equal heads have equally many parts.
      guard left.head == right.head else { return false }
      pending += zip(left.parts, right.parts)
    }
    return true
  }

  /// Hashes the outer levels of the tree.
  func hash(into hasher: inout Hasher, levels: Int = 8) {
    hasher.combine(head)
    guard levels > 0 else { return }
    for part in parts { part.hash(into: &hasher, levels: levels - 1) }
  }

  /// The parts that have parts themselves. A long list of constants has none.
  private var branches: [PredicateNode] { parts.filter(\.isBranch) }

  /// Whether the node has parts.
  private var isBranch: Bool {
    switch self {
    case .predicate(.constant), .expression(.constant), .expression(.evaluatedObject), .expression(.variable),
      .expression(.anyKey):
      false
    default: true
    }
  }

  /// Whether the tree exceeds the depth limit of predicates.
  var isTooDeep: Bool { TreeLimits.areExceeded(by: self, depth: PredicateLimits.greatestDepth, \.branches) }

  /// Whether a value in the tree exceeds the depth limit of values.
  var hasDeepValue: Bool {
    var pending = [self]
    while let node = pending.popLast() {
      if case .expression(.constant(let value)) = node, value.isNestedTooDeeply { return true }
      pending += node.parts
    }
    return false
  }
}

extension Predicate {
  /// Whether both trees are equal.
  public static func == (left: Predicate, right: Predicate) -> Bool {
    PredicateNode.predicate(left).isSame(as: .predicate(right))
  }

  /// Hashes the outer levels of the tree.
  public func hash(into hasher: inout Hasher) { PredicateNode.predicate(self).hash(into: &hasher) }
}

extension Expression {
  /// Whether both trees are equal.
  public static func == (left: Expression, right: Expression) -> Bool {
    if case .evaluatedObject = left, case .evaluatedObject = right { return true }
    return PredicateNode.expression(left).isSame(as: .expression(right))
  }

  /// Hashes the outer levels of the tree.
  public func hash(into hasher: inout Hasher) { PredicateNode.expression(self).hash(into: &hasher) }
}
