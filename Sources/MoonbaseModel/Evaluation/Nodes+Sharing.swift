// A compiled expression is searched once, from the root downwards, for the largest parts that rows can share.

extension ConditionNode {
  /// The condition with its shared parts marked.
  ///
  /// A part is marked if all of its reads begin with the same path of to-one relationships, and it
  /// visits many objects.
  func sharing() -> ConditionNode {
    let reads = PartReads(of: self)
    if reads.isShared, let start = reads.start {
      let rest = rebased(start, along: reads.way).sharing()
      return .shared(SharedPart(start: start, way: reads.way, whole: self, rest: rest))
    }
    switch self {
    case .constant, .shared: return self
    case .comparison(let node): return .comparison(node.with(left: node.left.sharing(), right: node.right.sharing()))
    case .and(let parts): return .and(parts.map { $0.sharing() })
    case .or(let parts): return .or(parts.map { $0.sharing() })
    case .not(let inner): return .not(inner.sharing())
    }
  }

  /// The condition relative to the object at the end of a path.
  ///
  /// `way` is the path, which is removed from each read.
  fileprivate func rebased(_ start: PartStart, along way: [Slot]) -> ConditionNode {
    switch self {
    case .constant, .shared: self
    case .comparison(let node):
      .comparison(
        node.with(left: node.left.rebased(start, along: way), right: node.right.rebased(start, along: way)))
    case .and(let parts): .and(parts.map { $0.rebased(start, along: way) })
    case .or(let parts): .or(parts.map { $0.rebased(start, along: way) })
    case .not(let inner): .not(inner.rebased(start, along: way))
    }
  }
}

extension ValueNode {
  /// The expression with its shared parts marked. Only its value is kept, not the objects at its end.
  func sharing() -> ValueNode {
    guard givesOne else { return sharingWithin() }
    let reads = PartReads(of: self)
    guard reads.isShared, let start = reads.start else { return sharingWithin() }
    let rest = rebased(start, along: reads.way).sharing()
    return .shared(SharedPart(start: start, way: reads.way, whole: self, rest: rest))
  }

  /// Whether the value is single. A collection would take memory for each element.
  private var givesOne: Bool {
    switch self {
    case .arithmetic, .call, .element: true
    case .path(let base, let steps):
      if case .aggregate(let last)? = steps.last { !last.givesCollection } else { base.isElement && steps.leadToOne }
    default: false
    }
  }

  /// Whether it is an element of a collection.
  private var isElement: Bool { if case .element = self { true } else { false } }

  /// The expression with shared parts marked among its operands.
  private func sharingWithin() -> ValueNode {
    switch self {
    case .constant, .subject, .slot, .key, .variable, .shared: self
    case .path(let base, let steps): .path(base.sharingWithin(), steps)
    case .arithmetic(let function, let left, let right): .arithmetic(function, left.sharing(), right.sharing())
    case .call(let function, let values): .call(function, values.map { $0.sharing() })
    case .element(let collection, let index): .element(of: collection.sharingWithin(), at: index.sharing())
    case .aggregate(let values): .aggregate(values.map { $0.sharing() })
    case .subquery(let collection, let variable, let condition):
      .subquery(collection.sharingWithin(), variable: variable, condition.sharing())
    case .conditional(let condition, let then, let otherwise):
      .conditional(condition.sharing(), then.sharingWithin(), otherwise.sharingWithin())
    case .assignment(let index, let value): .assignment(index, value.sharingWithin())
    }
  }

  /// The expression relative to the object at the end of a path.
  ///
  /// `way` is the path, which is removed from each read.
  fileprivate func rebased(_ start: PartStart, along way: [Slot]) -> ValueNode {
    func again(_ node: ValueNode) -> ValueNode { node.rebased(start, along: way) }
    return switch self {
    case .constant, .subject, .slot, .key, .variable, .shared: self
    case .path(.subject, let steps) where start == .row: Self.path(behind: way, of: steps)
    case .path(.variable(let index), let steps) where start == .variable(index): Self.path(behind: way, of: steps)
    case .path(let base, let steps): .path(again(base), steps)
    case .arithmetic(let function, let left, let right): .arithmetic(function, again(left), again(right))
    case .call(let function, let values): .call(function, values.map(again))
    case .element(let collection, let index): .element(of: again(collection), at: again(index))
    case .aggregate(let values): .aggregate(values.map(again))
    case .subquery(let collection, let variable, let condition):
      .subquery(again(collection), variable: variable, condition.rebased(start, along: way))
    case .conditional(let condition, let then, let otherwise):
      .conditional(condition.rebased(start, along: way), again(then), again(otherwise))
    case .assignment(let index, let value): .assignment(index, again(value))
    }
  }

  /// The rest of a path behind its first slots.
  private static func path(behind way: [Slot], of steps: [PathStep]) -> ValueNode {
    steps.count == way.count ? .subject : .path(.subject, Array(steps.dropFirst(way.count)))
  }
}

extension [PathStep] {
  /// Whether a path from a single object ends at a single value or object.
  fileprivate var leadToOne: Bool {
    allSatisfy {
      switch $0 {
      case .attribute, .toOne, .identity: true
      default: false
      }
    }
  }
}
