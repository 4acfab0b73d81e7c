/// A compiled predicate, for evaluation with many subjects. Immutable and shared.
///
/// ```swift
/// let adult = try CompiledPredicate(Predicate(format: "age >= 18"))
/// let adults = try people.filter { try adult.evaluate(with: $0) }
/// ```
public struct CompiledPredicate: Sendable {
  // The ranges are tested first: see `IntegerRange`.
  /// The ranges of attributes, tested before anything else.
  @usableFromInline let slotRanges: ContiguousArray<(slot: Slot, range: IntegerRange)>
  /// The ranges of keys, for subjects without slots.
  @usableFromInline let keyRanges: ContiguousArray<(key: String, range: IntegerRange)>
  /// The conditions besides the ranges, the cheapest first.
  @usableFromInline let others: [ConditionNode]
  /// All conditions of the conjunction.
  @usableFromInline let conditions: [ConditionNode]
  /// Whether rows that refer to the same object can share partial results. Pass a memo to `matches` then.
  package let hasSharedParts: Bool

  /// Compiles a predicate over objects of an entity, with the rules of a fetch for missing values.
  ///
  /// Throws `.predicateMismatch` for unknown keys and `.evaluation` for variables without a value.
  ///
  /// The memo of `matches` makes sense only if `hasSharedParts` is true.
  package init(_ predicate: Predicate, entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) {
    var compiler = PredicateCompiler(entity: entity, model: model, nulls: .fetch)
    let root = try compiler.condition(predicate)
    self.init(root, hasSharedParts: compiler.leadsToShared)
  }

  /// Compiles a predicate over any subject that answers keys.
  ///
  /// `nulls` is the meaning of missing values.
  package init(_ predicate: Predicate, nulls: NullRules) throws(ModelError) {
    var compiler = PredicateCompiler(entity: nil, model: nil, nulls: nulls)
    self.init(try compiler.condition(predicate), hasSharedParts: false)
  }

  /// Compiles a predicate over any subject that answers keys, with Foundation's rules for nil.
  ///
  /// Throws for variables without a value and for invalid regular expressions.
  public init(_ predicate: Predicate) throws(ModelError) { try self.init(predicate, nulls: .foundation) }

  /// Orders the conditions of a conjunction: ranges, conditions of the subject itself, and
  /// conditions that follow relationships.
  private init(_ root: ConditionNode, hasSharedParts: Bool) {
    let parts = if case .and(let parts) = root { parts } else { [root] }
    let ordered = parts.filter(\.isPlain) + parts.filter { !$0.isPlain }
    self.hasSharedParts = hasSharedParts
    conditions = hasSharedParts ? ordered.map { $0.sharing() } : ordered
    let divided = Conjunction(conditions)
    slotRanges = divided.slots
    keyRanges = divided.keys
    others = divided.others
  }

  /// Whether the subject satisfies the predicate. Throws as `Predicate.evaluate(with:)` does.
  @inlinable
  public func evaluate<Subject: KeyPathAnswering>(with subject: Subject) throws -> Bool
  where Subject.Related == Subject { try matches(KeyedSubject(base: subject)) }

  /// Whether a map satisfies the predicate. A missing key is nil.
  public func evaluate(with map: [String: Value]) throws -> Bool { try evaluate(with: Value.map(map)) }

  /// Whether the subject satisfies the predicate. The memo keeps results that subjects share.
  @inlinable
  package func matches<Subject: SlottedSubject>(_ subject: Subject, memo: EvaluationMemo? = nil) throws -> Bool
  where Subject.Related == Subject {
    for (slot, range) in slotRanges {
      switch try subject.predicateValue(slot: slot) {
      case .int(let number): if !range.contains(number) { return false }
      case .null: return false
      default: return try holds(conditions, for: subject, memo: memo)
      }
    }
    for (key, range) in keyRanges {
      guard case .value(let value) = try subject.predicateAnswer(forKey: key) else {
        return try holds(conditions, for: subject, memo: memo)
      }
      switch value {
      case .int(let number): if !range.contains(number) { return false }
      case .null: return false
      default: return try holds(conditions, for: subject, memo: memo)
      }
    }
    return try others.isEmpty || holds(others, for: subject, memo: memo)
  }

  /// Whether all conditions hold, in order. An unknown condition counts as not fulfilled.
  @inlinable
  func holds<Subject: SlottedSubject>(
    _ conditions: [ConditionNode], for subject: Subject, memo: EvaluationMemo?
  ) throws -> Bool where Subject.Related == Subject {
    defer { withExtendedLifetime(memo) {} }
    var bindings = Bindings<Subject>(memo: memo)
    for condition in conditions where try condition.truth(subject, bindings: &bindings) != .yes { return false }
    return true
  }
}

extension ConditionNode {
  /// Whether the condition reads only values of the subject itself.
  fileprivate var isPlain: Bool {
    switch self {
    case .constant: true
    case .comparison(let comparison):
      comparison.modifier == .direct && comparison.left.isPlain && comparison.right.isPlain
    case .and(let parts), .or(let parts): parts.allSatisfy(\.isPlain)
    case .not(let inner): inner.isPlain
    case .shared: false
    }
  }
}

extension ValueNode {
  /// Whether the expression is a value of the subject, a constant, or a function of these.
  fileprivate var isPlain: Bool {
    switch self {
    case .constant, .slot, .key: true
    case .arithmetic(_, let left, let right): left.isPlain && right.isPlain
    case .call(_, let values), .aggregate(let values): values.allSatisfy(\.isPlain)
    case .conditional(let condition, let then, let otherwise):
      condition.isPlain && then.isPlain && otherwise.isPlain
    case .subject, .path, .variable, .element, .subquery, .assignment, .shared: false
    }
  }
}
