/// An operator of a key path, such as `@count`.
@usableFromInline
enum CollectionOperator: String, Sendable, CaseIterable {
  case count = "@count"
  case sum = "@sum"
  case average = "@avg"
  case minimum = "@min"
  case maximum = "@max"
  case union = "@unionOfObjects"
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
