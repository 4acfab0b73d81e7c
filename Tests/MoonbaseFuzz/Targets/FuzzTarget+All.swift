extension FuzzTarget {
  /// Every target, in the order of `scripts/fuzz`'s list.
  static var all: [FuzzTarget] { [model, archive, predicate, lua, pages, store] }
}
