/// Limits for predicates in text and for trees that a program builds.
enum PredicateLimits {
  /// The deepest tree allowed: that of the longest chain of operators.
  static let greatestDepth = 520

  /// The greatest number of keys of a key path. Each key is a join to a store, and SQLite joins at most 64 tables.
  static let greatestPathLength = 64

  /// Throws `.invalidPredicate` for a depth beyond the limit.
  static func check(depth: Int) throws(ModelError) {
    guard depth > greatestDepth else { return }
    throw refusal
  }

  /// Checks a tree in advance, for walks that cannot throw.
  static func check(_ node: PredicateNode) throws(ModelError) {
    if node.isTooDeep { throw refusal }
  }

  /// The error about a tree that is too deep or too large.
  private static var refusal: ModelError {
    ModelError(
      .invalidPredicate,
      message: "the predicate is nested more than \(greatestDepth) levels deep, or has a million parts; split it")
  }

  /// Values in a predicate have the same depth limit as attribute values.
  static func check(_ constant: Value) throws(ModelError) {
    guard constant.isNestedTooDeeply else { return try constant.checkComparable() }
    throw ModelError(
      .invalidPredicate, message: "a value in the predicate is nested more than \(TreeLimits.greatestDepth) levels deep"
    )
  }
}
