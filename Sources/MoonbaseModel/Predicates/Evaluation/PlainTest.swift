/// A comparison of one attribute with a constant: what most conditions of most fetches are.
///
/// A row is asked for the value and nothing else is generic, so that the test runs at full speed whoever compiled the row's type.
final class PlainTest: Sendable {
  /// The slot that is read; where there is none, the key is.
  let slot: Int?
  let key: String
  private let constant: Value
  private let comparison: ComparisonNode?
  private let test: ComparisonTest
  private let number: Int64
  private let isInteger: Bool

  /// Nil for conditions that take more than one attribute and a constant.
  convenience init?(_ condition: ConditionNode) {
    switch condition {
    case .integer(let slot, let test, let number):
      self.init(slot: slot, test: test, constant: .int(number))
    case .comparison(let comparison):
      guard comparison.modifier == .direct, let constant = comparison.right.constant else { return nil }
      switch comparison.left {
      case .slot(let slot): self.init(slot: slot, comparison: comparison, constant: constant)
      case .key(let key): self.init(key: key, comparison: comparison, constant: constant)
      default: return nil
      }
    default: return nil
    }
  }

  private init(
    slot: Int? = nil, key: String = "", comparison: ComparisonNode? = nil, test: ComparisonTest? = nil, constant: Value
  ) {
    self.slot = slot
    self.key = key
    self.constant = constant
    self.comparison = comparison
    let test = test ?? comparison.flatMap { ComparisonTest($0.operator) }
    self.test = test ?? .equal
    if test != nil, case .int(let number) = constant {
      self.number = number
      isInteger = true
    } else {
      number = 0
      isInteger = false
    }
  }

  /// Whether the value that was read satisfies the condition.
  @inline(__always)
  func holds(_ value: Value) throws -> Bool {
    if isInteger, case .int(let left) = value { return test.holds(left, number) }
    return try holdsElsewhere(value)
  }

  private func holdsElsewhere(_ value: Value) throws -> Bool {
    if let comparison { return try comparison.direct(value, constant) == .yes }
    return !value.isNull && test.holds(Value.compare(value, constant))
  }
}

/// The conditions that must all hold: plain ones first, and whatever takes more.
struct Conjunction: Sendable {
  let tests: [PlainTest]
  let rest: ConditionNode?

  init(_ root: ConditionNode) {
    let parts = if case .and(let parts) = root { parts } else { [root] }
    var tests: [PlainTest] = []
    var rest: [ConditionNode] = []
    for part in parts {
      if let test = PlainTest(part) { tests.append(test) } else { rest.append(part) }
    }
    self.tests = tests
    self.rest = rest.isEmpty ? nil : rest.count == 1 ? rest[0] : .and(rest)
  }
}
