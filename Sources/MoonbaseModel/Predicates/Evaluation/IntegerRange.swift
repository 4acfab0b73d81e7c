/// The integers that conditions on one attribute allow, as in `age >= 100 AND age <= 200`: what most fetches ask first.
///
/// It holds no reference, so that rows are asked and compared without counting any.
@usableFromInline
struct IntegerRange: Sendable {
  /// The slot that is read; of no meaning where a key is.
  @usableFromInline let slot: Slot
  @usableFromInline private(set) var lower: Int64
  @usableFromInline private(set) var upper: Int64

  @inlinable
  func contains(_ number: Int64) -> Bool { number >= lower && number <= upper }

  /// The range of a condition and the key it reads; nil for conditions of another form.
  static func of(_ condition: ConditionNode) -> (key: String?, range: IntegerRange)? {
    switch condition {
    case .integer(let slot, let test, let number):
      return bounds(test, number: number).map { (nil, IntegerRange(slot: slot, lower: $0, upper: $1)) }
    case .comparison(let comparison):
      guard comparison.modifier == .direct, let (source, bounds) = bounds(comparison) else { return nil }
      switch source {
      case .slot(let slot): return (nil, IntegerRange(slot: slot, lower: bounds.0, upper: bounds.1))
      case .key(let key): return (key, IntegerRange(slot: -1, lower: bounds.0, upper: bounds.1))
      default: return nil
      }
    default: return nil
    }
  }

  private static func bounds(_ comparison: ComparisonNode) -> (ValueNode, (Int64, Int64))? {
    switch (comparison.operator, comparison.left, comparison.right) {
    case (.between, let source, .constant(.list(let list))):
      guard list.count == 2, case .int(let lower) = list[0], case .int(let upper) = list[1] else { return nil }
      return (source, (lower, upper))
    case (_, let source, .constant(.int(let number))):
      return ComparisonTest(comparison.operator).flatMap { bounds($0, number: number) }.map { (source, $0) }
    case (_, .constant(.int(let number)), let source):
      return ComparisonTest(comparison.operator).flatMap { bounds($0.mirrored, number: number) }.map { (source, $0) }
    default: return nil
    }
  }

  private static func bounds(_ test: ComparisonTest, number: Int64) -> (Int64, Int64)? {
    let none = (Int64.max, Int64.min)
    switch test {
    case .equal: return (number, number)
    case .notEqual: return nil
    case .less: return number == .min ? none : (.min, number - 1)
    case .lessOrEqual: return (.min, number)
    case .greater: return number == .max ? none : (number + 1, .max)
    case .greaterOrEqual: return (number, .max)
    }
  }

  /// What both ranges allow.
  mutating func intersect(_ other: IntegerRange) {
    lower = max(lower, other.lower)
    upper = min(upper, other.upper)
  }
}

/// A range of the integers under a key.
@usableFromInline
struct KeyedIntegerRange: Sendable {
  @usableFromInline let key: String
  @usableFromInline var range: IntegerRange
}

/// The conditions that must all hold, by what it takes to ask them.
struct Conjunction: Sendable {
  /// Ranges of integers in slots, each slot once.
  private(set) var slots: ContiguousArray<IntegerRange> = []
  /// Ranges of integers under keys, each key once.
  private(set) var keys: ContiguousArray<KeyedIntegerRange> = []
  /// Conditions on plain values of the subject.
  private(set) var plain: [ConditionNode] = []
  /// Whatever takes more: objects, collections, variables.
  private(set) var rest: [ConditionNode] = []

  init(_ root: ConditionNode) {
    let parts = if case .and(let parts) = root { parts } else { [root] }
    for part in parts {
      if let (key, range) = IntegerRange.of(part) {
        add(range, key: key)
      } else if part.isPlain {
        plain.append(part)
      } else {
        rest.append(part)
      }
    }
  }

  private mutating func add(_ range: IntegerRange, key: String?) {
    if let key {
      if let index = keys.firstIndex(where: { $0.key == key }) {
        keys[index].range.intersect(range)
      } else {
        keys.append(KeyedIntegerRange(key: key, range: range))
      }
    } else if let index = slots.firstIndex(where: { $0.slot == range.slot }) {
      slots[index].intersect(range)
    } else {
      slots.append(range)
    }
  }
}
