/// A condition ready to run.
@usableFromInline
indirect enum ConditionNode: Sendable {
  case constant(Truth)
  case comparison(ComparisonNode)
  case and([ConditionNode])
  case or([ConditionNode])
  case not(ConditionNode)
  /// What rows that lead to the same object have in common.
  case shared(SharedPart<ConditionNode>)
}

/// An expression ready to run.
@usableFromInline
indirect enum ValueNode: Sendable {
  case constant(Value)
  case subject
  /// An attribute of the subject, or the ID at the end of its to-one relationship.
  case slot(Int)
  /// What the subject has under one key.
  case key(String)
  case path(ValueNode, [PathStep])
  case variable(Int)
  case arithmetic(PredicateFunction, ValueNode, ValueNode)
  case call(PredicateFunction, [ValueNode])
  /// An element of a collection, by its number or the name of its place.
  case element(of: ValueNode, at: ValueNode)
  case aggregate([ValueNode])
  case subquery(ValueNode, variable: Int, ConditionNode)
  case conditional(ConditionNode, ValueNode, ValueNode)
  case assignment(Int, ValueNode)
  /// What rows that lead to the same object have in common.
  case shared(SharedPart<ValueNode>)
}

/// One step along a key path.
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

  /// Whether two values in this order satisfy the test; values without order are only unequal.
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
