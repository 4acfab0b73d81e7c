/// How far predicates may go, in text and in trees that a program builds.
enum PredicateLimits {
  /// Levels of a tree: as many as the longest row of operators makes.
  static let greatestDepth = 520

  /// The greatest number of keys of a key path. Each key is a join to a store, and SQLite joins at most 64 tables.
  static let greatestPathLength = 64

  static func check(depth: Int) throws(ModelError) {
    guard depth > greatestDepth else { return }
    throw refusal
  }

  /// For walks that cannot refuse a tree on their way.
  static func check(_ node: PredicateNode) throws(ModelError) {
    if node.isTooDeep { throw refusal }
  }

  private static var refusal: ModelError {
    ModelError(
      .invalidPredicate,
      message: "the predicate is nested more than \(greatestDepth) levels deep, or has a million parts; split it")
  }

  /// Values in a predicate are nested no deeper than values of attributes.
  static func check(_ constant: Value) throws(ModelError) {
    guard constant.isNestedTooDeeply else { return try constant.checkComparable() }
    throw ModelError(
      .invalidPredicate, message: "a value in the predicate is nested more than \(TreeLimits.greatestDepth) levels deep"
    )
  }
}
