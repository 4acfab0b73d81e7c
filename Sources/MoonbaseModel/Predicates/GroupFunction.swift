/// A function over the rows of a group: `@sum.age` or `sum:(age)`.
///
/// Both notations are found by `groupFunction` of an expression. Stores translate the function to
/// SQL, and `Reduction` computes it in memory.
package struct GroupFunction: Sendable, Hashable {
  /// The function of the rows' values.
  package let function: PredicateFunction
  /// The key path of the values; nil for `@count` of the rows.
  package let keyPath: [String]?
}

extension Expression {
  /// The function over the rows of a group that the expression denotes in a column; nil for other expressions.
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

  /// The key paths read from each object, without the arguments of functions over the rows of a group.
  ///
  /// `SELF` alone is the path `["SELF"]`.
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
  /// The equivalent function of a list; nil for operators that give a list.
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
