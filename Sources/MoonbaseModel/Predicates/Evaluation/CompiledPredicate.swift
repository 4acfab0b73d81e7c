/// A predicate with everything looked up, to be asked about many subjects. Immutable and shared.
///
/// ```swift
/// let adult = try CompiledPredicate(Predicate(format: "age >= 18"))
/// let adults = try people.filter { try adult.evaluate(with: $0) }
/// ```
public struct CompiledPredicate: Sendable {
  // What is asked of every row is compiled into the caller, together with the way in which its rows answer.
  @usableFromInline let slotRanges: ContiguousArray<IntegerRange>
  @usableFromInline let keyRanges: ContiguousArray<KeyedIntegerRange>
  @usableFromInline let hasPlain: Bool
  @usableFromInline let hasRest: Bool
  private let plain: [ConditionNode]
  private let rest: ConditionNode
  private let whole: ConditionNode

  /// Compiles a predicate over objects of an entity, with the rules of a fetch for missing values.
  ///
  /// Throws `.predicateMismatch` for unknown keys and `.evaluation` for variables without a value.
  package init(_ predicate: Predicate, entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) {
    var compiler = PredicateCompiler(entity: entity, model: model, nulls: .fetch)
    self.init(try compiler.condition(predicate))
  }

  /// Compiles a predicate over anything that answers keys.
  package init(_ predicate: Predicate, nulls: NullRules) throws(ModelError) {
    var compiler = PredicateCompiler(entity: nil, model: nil, nulls: nulls)
    self.init(try compiler.condition(predicate))
  }

  /// Compiles a predicate over anything that answers keys, with Foundation's rules for nil.
  ///
  /// Throws for variables without a value and for broken regular expressions.
  public init(_ predicate: Predicate) throws(ModelError) { try self.init(predicate, nulls: .foundation) }

  private init(_ root: ConditionNode) {
    let parts = Conjunction(root)
    slotRanges = parts.slots
    keyRanges = parts.keys
    plain = parts.plain
    rest = .and(parts.rest)
    hasPlain = !parts.plain.isEmpty
    hasRest = !parts.rest.isEmpty
    whole = root
  }

  /// Whether the subject satisfies the predicate. Throws as `Predicate.evaluate(with:)` does.
  @inlinable
  public func evaluate<Subject: KeyPathAnswering>(with subject: Subject) throws -> Bool
  where Subject.Related == Subject {
    guard slotRanges.isEmpty else { return try evaluateWhole(with: subject) }
    for entry in keyRanges {
      guard case .value(let value) = try subject.predicateAnswer(forKey: entry.key) else {
        return try evaluateWhole(with: subject)
      }
      switch value {
      case .int(let number): if !entry.range.contains(number) { return false }
      case .null: return false
      default: return try evaluateWhole(with: subject)
      }
    }
    if hasPlain {
      do {
        let holds = try holdsPlain { _, key in
          guard case .value(let value) = try subject.predicateAnswer(forKey: key) else { throw NotPlain() }
          return value
        }
        if !holds { return false }
      } catch is NotPlain {
        return try evaluateWhole(with: subject)
      }
    }
    return try !hasRest || evaluateRest(with: subject)
  }

  /// Whether a map satisfies the predicate; a key that it lacks is nil.
  @inlinable
  public func evaluate(with map: [String: Value]) throws -> Bool { try evaluate(with: Value.map(map)) }

  /// Whether the subject satisfies the predicate.
  @inlinable
  package func matches<Subject: SlottedSubject>(_ subject: Subject) throws -> Bool where Subject.Related == Subject {
    guard keyRanges.isEmpty else { return try matchesWhole(subject) }
    for range in slotRanges {
      switch try subject.predicateValue(slot: range.slot) {
      case .int(let number): if !range.contains(number) { return false }
      case .null: return false
      default: return try matchesWhole(subject)
      }
    }
    if hasPlain {
      do {
        let holds = try holdsPlain { slot, key in
          if slot >= 0 { return try subject.predicateValue(slot: slot) }
          guard case .value(let value) = try subject.predicateAnswer(forKey: key) else { throw NotPlain() }
          return value
        }
        if !holds { return false }
      } catch is NotPlain {
        return try matchesWhole(subject)
      }
    }
    return try !hasRest || matchesRest(subject)
  }

  // MARK: Parts

  @usableFromInline
  func holdsPlain(_ read: (_ slot: Slot, _ key: String) throws -> Value) throws -> Bool {
    for condition in plain where try condition.truth(read) != .yes { return false }
    return true
  }

  /// Every condition by the general means: for keys that lead to objects, and numbers that are no integers.
  @usableFromInline
  func matchesWhole<Subject: SlottedSubject>(_ subject: Subject) throws -> Bool where Subject.Related == Subject {
    var bindings = Bindings<Subject>()
    return try whole.truth(subject, bindings: &bindings) == .yes
  }

  @usableFromInline
  func matchesRest<Subject: SlottedSubject>(_ subject: Subject) throws -> Bool where Subject.Related == Subject {
    var bindings = Bindings<Subject>()
    return try rest.truth(subject, bindings: &bindings) == .yes
  }

  @usableFromInline
  func evaluateWhole<Subject: KeyPathAnswering>(with subject: Subject) throws -> Bool
  where Subject.Related == Subject { try matchesWhole(KeyedSubject(base: subject)) }

  @usableFromInline
  func evaluateRest<Subject: KeyPathAnswering>(with subject: Subject) throws -> Bool
  where Subject.Related == Subject { try matchesRest(KeyedSubject(base: subject)) }
}

/// A key led to objects where a plain value was read.
@usableFromInline
struct NotPlain: Error {
  @inlinable init() {}
}
