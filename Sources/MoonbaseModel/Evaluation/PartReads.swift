/// What a part of an expression reads of the row or of one variable, as far as it matters for whether rows can share its outcome.
struct PartReads {
  /// Where all that is read begins; nil before anything is.
  private(set) var start: PartStart?
  /// The to-one relationships through which all of it leads.
  private(set) var way: [Slot] = []
  /// Whether it goes over many objects or values: anything else is read as quickly as looked up.
  private var readsMany = false
  /// Whether the outcome depends on more, or on when it is asked for.
  private var isOpen = false
  /// The variables that the part itself binds.
  private var own: Set<Int> = []

  init(of condition: ConditionNode) { read(condition) }
  init(of value: ValueNode) { read(value) }

  /// Whether the outcome depends on nothing but the object at the end of the way.
  var isShared: Bool { !isOpen && readsMany && !way.isEmpty }

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

  private mutating func read(_ steps: [PathStep], from start: PartStart) {
    note(steps)
    let slots = steps.leadingSlots
    if self.start == nil { (self.start, way) = (start, slots) }
    let common = zip(way, slots).prefix { $0 == $1 }.count
    way.removeLast(way.count - common)
    if way.isEmpty || self.start != start { isOpen = true }
  }

  private mutating func note(_ steps: [PathStep]) { readsMany = readsMany || steps.contains(where: \.leadsToMany) }
}

extension [PathStep] {
  /// The slots of the to-one relationships with which a path begins.
  fileprivate var leadingSlots: [Slot] {
    var slots: [Slot] = []
    for case .toOne(let slot) in prefix(while: \.isToOne) { slots.append(slot) }
    return slots
  }

  /// Whether a path goes over many objects or values that another row may lead to as well.
  var leadsToShared: Bool { first?.isToOne == true && contains(where: \.leadsToMany) }
}

extension PathStep {
  fileprivate var isToOne: Bool { if case .toOne = self { true } else { false } }

  fileprivate var leadsToMany: Bool {
    switch self {
    case .toMany, .aggregate: true
    default: false
    }
  }
}
