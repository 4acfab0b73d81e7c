import MoonbaseModel

extension Predicate {
  /// The constants compared with key paths, by path, in order. Constants within subqueries are not included.
  ///
  /// For example `[(["birth"], [.int(3)])]` for `birth > 3 OR name = nick`. Used to find numbers that are compared with
  /// dates.
  var valuesByPath: [([String], [Value])] {
    switch self {
    case .constant: []
    case .comparison(let comparison):
      if case .keyPath(.evaluatedObject, let path) = comparison.left {
        [(path, comparison.right.constants)]
      } else if case .keyPath(.evaluatedObject, let path) = comparison.right {
        [(path, comparison.left.constants)]
      } else {
        []
      }
    case .and(let parts), .or(let parts): parts.flatMap(\.valuesByPath)
    case .not(let inner): inner.valuesByPath
    }
  }
}

extension Expression {
  /// The constants of an operand: a single one, or those of a list.
  fileprivate var constants: [Value] {
    switch self {
    case .constant(let value): value.elements
    case .aggregate(let elements): elements.flatMap(\.constants)
    default: []
    }
  }
}

extension Value {
  /// The elements of a list, or the value itself.
  fileprivate var elements: [Value] { if case .list(let values) = self { values } else { [self] } }

  /// The value's numbers: the value itself, or the elements of a list.
  var numbers: [Value] {
    elements.filter { value in
      switch value {
      case .int, .double, .decimal: true
      default: false
      }
    }
  }
}

extension ResolvedModel {
  /// The attribute at the end of a path through relationships; nil for other paths. Operators such as `@count` end the
  /// search.
  func attribute(at path: [String], from entity: ResolvedEntity) -> AttributeDescription? {
    var (entity, rest) = (entity, path[...])
    while let key = rest.popFirst() {
      guard let property = entity.property(key) else { return nil }
      guard let relationship = property.relationship else { return rest.isEmpty ? property.attribute : nil }
      entity = destination(of: relationship)
    }
    return nil
  }
}
