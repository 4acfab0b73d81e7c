/// A compiled condition.
@usableFromInline
indirect enum ConditionNode: Sendable {
  case constant(Truth)
  case comparison(ComparisonNode)
  case and([ConditionNode])
  case or([ConditionNode])
  case not(ConditionNode)
  /// A part whose result is shared by rows that refer to the same object.
  case shared(SharedPart<ConditionNode>)
}

/// A compiled expression.
@usableFromInline
indirect enum ValueNode: Sendable {
  case constant(Value)
  case subject
  /// An attribute of the subject, or the ID at the end of its to-one relationship.
  case slot(Int)
  /// The subject's value for a key.
  case key(String)
  case path(ValueNode, [PathStep])
  case variable(Int)
  case arithmetic(PredicateFunction, ValueNode, ValueNode)
  case call(PredicateFunction, [ValueNode])
  /// An element of a collection, by its index or by a position such as `FIRST`.
  case element(of: ValueNode, at: ValueNode)
  case aggregate([ValueNode])
  case subquery(ValueNode, variable: Int, ConditionNode)
  case conditional(ConditionNode, ValueNode, ValueNode)
  case assignment(Int, ValueNode)
  /// A part whose result is shared by rows that refer to the same object.
  case shared(SharedPart<ValueNode>)
}

/// A step along a key path.
@usableFromInline
enum PathStep: Sendable {
  case attribute(Int)
  case toOne(Int)
  case toMany(Int)
  case key(String)
  /// The object's own ID.
  case identity
  case aggregate(CollectionOperator)
}

/// One of the six comparisons of order.
enum ComparisonTest: Sendable {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

  init?(_ operator: Predicate.Comparison.Operator) {
    switch `operator` {
    case .equal: self = .equal
    case .notEqual: self = .notEqual
    case .lessThan: self = .less
    case .lessThanOrEqual: self = .lessOrEqual
    case .greaterThan: self = .greater
    case .greaterThanOrEqual: self = .greaterOrEqual
    default: return nil
    }
  }

  /// Whether the order of two values satisfies the test. Values without an order satisfy only `notEqual`.
  func holds(_ order: ValueOrder?) -> Bool {
    switch self {
    case .equal: order == .same
    case .notEqual: order != .same
    case .less: order == .ascending
    case .lessOrEqual: order == .ascending || order == .same
    case .greater: order == .descending
    case .greaterOrEqual: order == .descending || order == .same
    }
  }
}
