/// A compiled condition.
///
/// `PredicateCompiler` makes the tree; `truth(_:bindings:)` evaluates it for a subject.
@usableFromInline
indirect enum ConditionNode: Sendable {
  /// A condition with a known result.
  case constant(Truth)
  /// A comparison.
  case comparison(ComparisonNode)
  /// A conjunction.
  case and([ConditionNode])
  /// A disjunction.
  case or([ConditionNode])
  /// A negation, which leaves an unknown result unknown.
  case not(ConditionNode)
  /// A part whose result is shared by rows that refer to the same object.
  case shared(SharedPart<ConditionNode>)
}

/// A compiled expression.
///
/// `value(_:bindings:)` gives a value, and `operand(_:bindings:)` also objects.
@usableFromInline
indirect enum ValueNode: Sendable {
  /// A constant.
  case constant(Value)
  /// The subject itself.
  case subject
  /// An attribute of the subject, or the ID at the end of its to-one relationship.
  case slot(Int)
  /// The subject's value for a key.
  case key(String)
  /// The end of a path from another expression.
  case path(ValueNode, [PathStep])
  /// The variable with this index in `Bindings`.
  case variable(Int)
  /// An arithmetic operator with two operands.
  case arithmetic(PredicateFunction, ValueNode, ValueNode)
  /// A function call.
  case call(PredicateFunction, [ValueNode])
  /// An element of a collection, by its index or by a position such as `FIRST`.
  case element(of: ValueNode, at: ValueNode)
  /// A list of expressions.
  case aggregate([ValueNode])
  /// The elements of a collection that satisfy a condition.
  case subquery(ValueNode, variable: Int, ConditionNode)
  /// A conditional expression: condition, value if true, value otherwise.
  case conditional(ConditionNode, ValueNode, ValueNode)
  /// An assignment to a variable, whose value is that of the expression.
  case assignment(Int, ValueNode)
  /// A part whose result is shared by rows that refer to the same object.
  case shared(SharedPart<ValueNode>)
}

/// A step along a key path.
@usableFromInline
enum PathStep: Sendable {
  /// An attribute by its slot.
  case attribute(Int)
  /// A to-one relationship by its slot.
  case toOne(Int)
  /// A to-many relationship by its slot.
  case toMany(Int)
  /// A key that the subject looks up by name.
  case key(String)
  /// The object's own ID.
  case identity
  /// An operator over everything so far, such as `@count`.
  case aggregate(CollectionOperator)
}

/// One of the six comparisons of order.
///
/// The other operators of comparisons, such as `IN` and `LIKE`, are evaluated separately.
enum ComparisonTest: Sendable {
  /// The comparisons of `Predicate.Comparison.Operator` with an order.
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

  /// Returns nil for other operators.
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
