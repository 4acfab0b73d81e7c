import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Predicate

/// String operators of predicates.
enum StringMatch {
  static func holds(
    _ left: String, _ comparator: Predicate.Comparison.Operator, _ right: String,
    _ options: Predicate.Comparison.Options
  ) throws -> Bool {
    let (left, right) = (fold(left, options), fold(right, options))
    switch comparator {
    case .equal: return left == right
    case .notEqual: return left != right
    case .lessThan: return left < right
    case .lessThanOrEqual: return left <= right
    case .greaterThan: return left > right
    case .greaterThanOrEqual: return left >= right
    case .contains: return left.contains(right)
    case .beginsWith: return left.hasPrefix(right)
    case .endsWith: return left.hasSuffix(right)
    case .like, .matches, .in, .between: throw Untranslatable()
    }
  }

  private static func fold(_ text: String, _ options: Predicate.Comparison.Options) -> String {
    var folding: String.CompareOptions = []
    if options.contains(.caseInsensitive) { folding.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { folding.insert(.diacriticInsensitive) }
    return folding.isEmpty ? text : text.folding(options: folding, locale: nil)
  }
}
