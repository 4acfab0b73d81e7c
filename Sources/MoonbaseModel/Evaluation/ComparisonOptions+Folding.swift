import MoonbasePlatform

extension Predicate.Comparison.Options {
  /// The text without the differences that these options ignore. Option `[n]` asserts normalized text and changes
  /// nothing.
  package func fold(_ text: String) -> String {
    guard isFolding else { return text }
    return text.folded(
      caseInsensitive: contains(.caseInsensitive), diacriticInsensitive: contains(.diacriticInsensitive),
      locale: contains(.localeSensitive) ? .current : nil)
  }
}
