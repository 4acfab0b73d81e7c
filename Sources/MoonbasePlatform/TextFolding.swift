extension String {
  /// The text without differences in case, in diacritics, or both. Texts with only such differences fold to the same
  /// text.
  package func folded(
    caseInsensitive: Bool, diacriticInsensitive: Bool, locale: Locale? = nil
  ) -> String {
    if locale == nil, utf8.allSatisfy({ $0 < 0x80 }) { return caseInsensitive ? lowercased() : self }
    var options: String.CompareOptions = []
    if caseInsensitive { options.insert(.caseInsensitive) }
    if diacriticInsensitive { options.insert(.diacriticInsensitive) }
    return mapped { text in
      let folded = text.folding(options: options, locale: locale)
      return folded.utf8.allSatisfy { $0 < 0x80 } ? folded : folded.normalized(.composed)
    }
  }
}
