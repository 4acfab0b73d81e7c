/// A compiled comparison. A class, because evaluation would otherwise copy the large structure for each row.
@usableFromInline
final class ComparisonNode: Sendable {
  /// The left operand.
  @usableFromInline let left: ValueNode
  /// The right operand.
  @usableFromInline let right: ValueNode
  /// The operator.
  let `operator`: Predicate.Comparison.Operator
  /// The quantifier: direct, any or all.
  @usableFromInline let modifier: Predicate.Comparison.Modifier
  /// The rules for single values.
  let rules: ScalarComparison
  /// The strings (folded if the comparison folds), integers or IDs of a long constant list on the right of IN.
  let members: MemberSet?

  /// A comparison with all of its parts.
  init(
    left: ValueNode, right: ValueNode, operator: Predicate.Comparison.Operator,
    modifier: Predicate.Comparison.Modifier, rules: ScalarComparison, members: MemberSet?
  ) {
    self.left = left
    self.right = right
    self.operator = `operator`
    self.modifier = modifier
    self.rules = rules
    self.members = members
  }

  /// A copy of the comparison with replaced operands.
  func with(left: ValueNode, right: ValueNode) -> ComparisonNode {
    ComparisonNode(
      left: left, right: right, operator: `operator`, modifier: modifier, rules: rules, members: members)
  }
}

/// The comparison of two scalars.
struct ScalarComparison: Sendable {
  /// The operator.
  let `operator`: Predicate.Comparison.Operator
  /// The options, such as `[c]`.
  let options: Predicate.Comparison.Options
  /// The meaning of missing values.
  let nulls: NullRules
  /// Whether NULL compares as a plain value, as in `= NULL` and for relationships.
  let isNullPlain: Bool
  /// The prepared right operand, if it is a constant string.
  let matcher: StringMatcher?
  /// The sides whose texts are already folded. Constants are folded when the predicate is compiled.
  var folded: Sides = []

  /// A set of sides.
  struct Sides: OptionSet, Sendable {
    /// The bits of the set.
    let rawValue: UInt8
    /// The left side.
    static let left = Self(rawValue: 1)
    /// The right side.
    static let right = Self(rawValue: 2)
  }

  /// Whether the operator is an equality or order comparison.
  var isOfOrder: Bool { ComparisonTest(`operator`) != nil }

  /// The result for two values. Throws `.evaluation` if a text operator is applied to other values.
  func holds(_ left: Value, _ right: Value) throws -> Truth {
    if let test = ComparisonTest(`operator`) { return try compare(left, right, by: test) }
    if left.isNull || right.isNull { return nulls == .fetch ? .unknown : .no }
    guard case .string(let text) = left else { throw refusal(of: left) }
    if let matcher { return Truth(try matcher.matches(text)) }
    guard case .string(let pattern) = right else { throw refusal(of: right) }
    return Truth(try StringMatcher(`operator`, pattern: pattern, options: options).matches(text))
  }

  /// The result of an equality or order comparison.
  private func compare(_ left: Value, _ right: Value, by test: ComparisonTest) throws(ModelError) -> Truth {
    if nulls == .fetch, left.isNaN || right.isNaN {
      return compareMissing(left.isNaN ? .null : left, right.isNaN ? .null : right, by: test)
    }
    if left.isNull || right.isNull { return compareMissing(left, right, by: test) }
    try left.checkComparable()
    if !options.isEmpty, case .string(let left) = left, case .string(let right) = right {
      let order = Value.compare(.string(fold(left, .left)), .string(fold(right, .right)))
      return Truth(test.holds(order))
    }
    return Truth(test.holds(Value.compare(left, right)))
  }

  /// A text of a side, folded unless it already is.
  private func fold(_ text: String, _ side: Sides) -> String { folded.contains(side) ? text : options.fold(text) }

  /// The result if a value is missing.
  private func compareMissing(_ left: Value, _ right: Value, by test: ComparisonTest) -> Truth {
    let isPlain = isNullPlain || nulls == .foundation || left.isObjectID || right.isObjectID
    switch test {
    case .equal where isPlain: return Truth(left.isNull && right.isNull)
    case .notEqual where isPlain: return Truth(!(left.isNull && right.isNull))
    default: return nulls == .fetch ? .unknown : .no
    }
  }

  /// The error that a text operator was applied to another value.
  private func refusal(of value: Value) -> ModelError {
    ModelError(
      .evaluation, message: "\(`operator`.rawValue) compares strings; a value of type \(value.typeDescription) is none")
  }
}

extension Value {
  /// Whether this is NaN, which SQLite treats as null.
  fileprivate var isNaN: Bool {
    if case .double(let number) = self { number.isNaN } else { false }
  }

  /// Whether this is an object ID, which compares with null as a plain value.
  fileprivate var isObjectID: Bool {
    if case .objectID = self { true } else { false }
  }
}

/// A long constant list of values of the same kind, hashed.
struct MemberSet: Sendable {
  /// The integers of the list.
  private var integers: Set<Int64> = []
  /// The texts of the list, compared by code points.
  private var texts: Set<ExactText> = []
  /// The IDs of the list.
  private var ids: Set<ManagedObjectID> = []

  /// Returns nil for a short or mixed list, whose elements are compared singly.
  init?(_ values: [Value]) {
    guard values.count > 8 else { return nil }
    for value in values {
      switch value {
      case .int(let number): integers.insert(number)
      case .string(let text): texts.insert(ExactText(text))
      case .objectID(let id): ids.insert(id)
      default: return nil
      }
    }
    guard [integers.isEmpty, texts.isEmpty, ids.isEmpty].count(where: { !$0 }) == 1 else { return nil }
  }

  /// Whether the list has the value; nil if values of its kind must be compared singly.
  func contains(_ value: Value) -> Bool? {
    switch value {
    case .int(let number) where !integers.isEmpty: integers.contains(number)
    case .string(let text) where !texts.isEmpty: texts.contains(ExactText(text))
    case .objectID(let id) where !ids.isEmpty: ids.contains(id)
    default: nil
    }
  }
}
