import MoonbaseModel

/// The strings with a prefix as a range, which an index can find. Strings sort by their code points.
///
/// For example, the prefix `ab` is the range from `ab` to `ac`, exclusive. The condition stands before the call of
/// `BEGINSWITH`, which decides exactly.
struct PrefixRange {
  /// The prefix itself.
  private let lower: String
  /// The first string after all strings with the prefix. Nil where there is none.
  private let upper: String?

  /// Returns nil for the empty prefix, with which every string begins. The last character is increased; a prefix of the
  /// last code points has no upper bound.
  init?(_ prefix: String) {
    if prefix.isEmpty { return nil }
    lower = prefix
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      guard let next = Self.scalar(after: last) else { continue }
      var view = String.UnicodeScalarView()
      view.append(contentsOf: scalars + [next])
      upper = String(view)
      return
    }
    upper = nil
  }

  /// The next code point, skipping surrogates. Nil after the last code point.
  private static func scalar(after scalar: Unicode.Scalar) -> Unicode.Scalar? {
    scalar.value == 0xd7ff ? Unicode.Scalar(0xe000 as UInt32) : Unicode.Scalar(scalar.value + 1)
  }

  /// For example `column >= ? AND column < ?`.
  func condition(_ column: SQLFragment) -> SQLFragment {
    let from = column + SQLFragment(" >= ?", values: [.string(lower)])
    return upper.map { from + " AND " + column + SQLFragment(" < ?", values: [.string($0)]) } ?? from
  }
}
