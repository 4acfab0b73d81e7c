/// The reads of a part of an expression, as far as they decide whether rows can share its result.
///
/// The analysis walks a compiled part once. `Nodes+Sharing.swift` uses its result to mark shared
/// parts.
struct PartReads {
  /// The start of all reads; nil before the first read.
  private(set) var start: PartStart?
  /// The to-one relationships that all reads begin with.
  private(set) var way: [Slot] = []
  /// Whether the part visits many objects or values. A part that does not is computed as fast as it is looked up.
  private var readsMany = false
  /// Whether the result depends on other inputs, or on time.
  private var isOpen = false
  /// The variables that the part binds.
  private var own: Set<Int> = []

  /// The reads of a condition.
  init(of condition: ConditionNode) { read(condition) }
  /// The reads of an expression.
  init(of value: ValueNode) { read(value) }

  /// Whether the result depends only on the object at the end of the path.
  var isShared: Bool { !isOpen && readsMany && !way.isEmpty }

  /// Adds the reads of a condition.
  private mutating func read(_ condition: ConditionNode) {
    if isOpen { return }
    switch condition {
    case .constant: break
    case .comparison(let comparison):
      read(comparison.left)
      read(comparison.right)
    case .and(let parts), .or(let parts): for part in parts { read(part) }
    case .not(let inner): read(inner)
    case .shared: isOpen = true
    }
  }

  /// Adds the reads of an expression. Functions such as `now()` make the part depend on more than
  /// objects.
  private mutating func read(_ value: ValueNode) {
    if isOpen { return }
    switch value {
    case .constant: break
    case .path(.subject, let steps): read(steps, from: .row)
    case .path(.variable(let index), let steps) where !own.contains(index): read(steps, from: .variable(index))
    case .path(let base, let steps):
      read(base)
      note(steps)
    case .variable(let index): isOpen = !own.contains(index)
    case .call(.now, _), .call(.random, _), .call(.randomBelow, _): isOpen = true
    case .call(_, let values), .aggregate(let values): for value in values { read(value) }
    case .arithmetic(_, let left, let right), .element(let left, let right):
      read(left)
      read(right)
    case .subquery(let collection, let variable, let condition):
      read(collection)
      own.insert(variable)
      read(condition)
    case .conditional(let condition, let then, let otherwise):
      read(condition)
      read(then)
      read(otherwise)
    case .subject, .slot, .key, .assignment, .shared: isOpen = true
    }
  }

  /// Adds a path, and shortens `way` to the common beginning.
  private mutating func read(_ steps: [PathStep], from start: PartStart) {
    note(steps)
    let slots = steps.leadingSlots
    if self.start == nil { (self.start, way) = (start, slots) }
    let common = zip(way, slots).prefix { $0 == $1 }.count
    way.removeLast(way.count - common)
    if way.isEmpty || self.start != start { isOpen = true }
  }

  /// Notes whether a path visits many objects.
  private mutating func note(_ steps: [PathStep]) { readsMany = readsMany || steps.contains(where: \.leadsToMany) }
}

extension [PathStep] {
  /// The slots of the to-one relationships at the beginning of a path.
  fileprivate var leadingSlots: [Slot] {
    var slots: [Slot] = []
    for case .toOne(let slot) in prefix(while: \.isToOne) { slots.append(slot) }
    return slots
  }

  /// Whether a path visits many objects or values that another row may refer to as well.
  var leadsToShared: Bool { first?.isToOne == true && contains(where: \.leadsToMany) }
}

extension PathStep {
  /// Whether it is a to-one relationship.
  fileprivate var isToOne: Bool { if case .toOne = self { true } else { false } }

  /// Whether the step visits many objects or values.
  fileprivate var leadsToMany: Bool {
    switch self {
    case .toMany, .aggregate: true
    default: false
    }
  }
}
