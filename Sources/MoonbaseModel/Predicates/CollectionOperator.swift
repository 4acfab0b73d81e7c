/// An operator of a key path, such as `@count`.
///
/// The raw values are the names in key paths. `Expression` keeps operators as components;
/// `PathResolver` and `PredicateCompiler` recognise them.
@usableFromInline
enum CollectionOperator: String, Sendable, CaseIterable {
  /// The number of elements.
  case count = "@count"
  /// The sum of the numbers.
  case sum = "@sum"
  /// The average of the numbers; null without numbers.
  case average = "@avg"
  /// The least element.
  case minimum = "@min"
  /// The greatest element.
  case maximum = "@max"
  /// All elements of nested collections.
  case union = "@unionOfObjects"
  /// The different elements of nested collections.
  case distinctUnion = "@distinctUnionOfObjects"

  /// The operator of a key path's component, by any of its names.
  static func find(_ component: String) -> CollectionOperator? {
    switch component {
    case "@unionOfArrays", "@unionOfSets": .union
    case "@distinctUnionOfArrays", "@distinctUnionOfSets": .distinctUnion
    default: CollectionOperator(rawValue: component)
    }
  }

  /// Whether the result is again a collection.
  var givesCollection: Bool { self == .union || self == .distinctUnion }
}
