/// A function over the rows of a group: `@sum.age` or `sum:(age)`.
package struct GroupFunction: Sendable, Hashable {
  /// What is computed of the rows' values.
  package let function: PredicateFunction
  /// The key path whose values are taken; nil for `@count` of the rows themselves.
  package let keyPath: [String]?
}

extension Expression {
  /// What the expression means in a column of grouped rows, if that is a function over the rows.
  package var groupFunction: GroupFunction? {
    switch self {
    case .keyPath(.evaluatedObject, let path):
      guard let function = path.first.flatMap(CollectionOperator.init(rawValue:))?.function else { return nil }
      return GroupFunction(function: function, keyPath: path.count > 1 ? Array(path.dropFirst()) : nil)
    case .function(let name, let arguments):
      guard let function = PredicateFunction(rawValue: name), function.takesCollection, arguments.count == 1,
        case .keyPath(.evaluatedObject, let path) = arguments[0], !path.contains(where: { $0.hasPrefix("@") })
      else { return nil }
      return GroupFunction(function: function, keyPath: path)
    default: return nil
    }
  }

  /// The key paths that are read of each object, outside of functions over the rows of a group.
  package var ownPaths: [[String]] {
    var found: [[String]] = []
    _ = replacing { part in
      if part.groupFunction != nil { return part }
      switch part {
      case .keyPath(.evaluatedObject, let keys): found.append(keys)
      case .evaluatedObject: found.append(["SELF"])
      default: return nil
      }
      return part
    }
    return found
  }
}

extension CollectionOperator {
  /// The function that computes the same of a list; nil for those that give a list.
  var function: PredicateFunction? {
    switch self {
    case .count: .count
    case .sum: .sum
    case .average: .average
    case .minimum: .min
    case .maximum: .max
    case .union, .distinctUnion: nil
    }
  }
}
