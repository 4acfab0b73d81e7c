/// How far predicates may go, in text and in trees that a program builds.
enum PredicateLimits {
  /// Levels of a tree: as many as the longest row of operators makes.
  static let greatestDepth = 520

  static func check(depth: Int) throws(ModelError) {
    guard depth > greatestDepth else { return }
    throw ModelError(.invalidPredicate, "the predicate is nested more than \(greatestDepth) levels deep; split it")
  }
}
