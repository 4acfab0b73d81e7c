extension String {
  /// Unicode's normalization forms.
  package enum NormalizationForm: String {
    case composed = "NFC"
    case decomposed = "NFD"
    case compatiblyComposed = "NFKC"
    case compatiblyDecomposed = "NFKD"

    fileprivate var isCompatible: Bool { self == .compatiblyComposed || self == .compatiblyDecomposed }
  }

  /// The text in a normalization form, in time linear in its length. Foundation would lose marks of a long run.
  package func normalized(_ form: NormalizationForm) -> String {
    let text = hasLongRunOfMarks ? withOrderedMarks(compatibly: form.isCompatible) : self
    return switch form {
    case .composed: text.precomposedStringWithCanonicalMapping
    case .decomposed: text.decomposedStringWithCanonicalMapping
    case .compatiblyComposed: text.precomposedStringWithCompatibilityMapping
    case .compatiblyDecomposed: text.decomposedStringWithCompatibilityMapping
    }
  }

  /// More marks on a letter than any language uses.
  private static let longRun = 30

  /// Whether a letter has more marks than any language uses.
  ///
  /// Foundation sorts the marks of a letter by insertion, as does Swift when comparing or hashing texts. This takes
  /// quadratic time unless they are sorted.
  package var hasLongRunOfMarks: Bool {
    var length = 0
    for scalar in unicodeScalars {
      length = scalar.mayBecomeMarks ? length + 1 : 0
      if length > Self.longRun { return true }
    }
    return false
  }

  /// More bytes than any name that is looked up.
  private static let longName = 1000

  /// The text of a key, for lookups and messages. Texts that are longer than any name, or that have too many marks on a
  /// letter, are truncated and match no name.
  package var asName: String {
    utf8.count > Self.longName || hasLongRunOfMarks ? String(unicodeScalars.prefix(2 * Self.longRun)) + "…" : self
  }

  /// The decomposed text, with the marks of each letter sorted by their classes; the sort is stable.
  func withOrderedMarks(compatibly: Bool) -> String {
    var result = UnicodeScalarView()
    var run: [Unicode.Scalar] = []
    for scalar in unicodeScalars {
      for part in scalar.decomposed(compatibly: compatibly) {
        if part.combiningClass != 0 {
          run.append(part)
        } else {
          Self.appendOrdered(&run, to: &result)
          result.append(part)
        }
      }
    }
    Self.appendOrdered(&run, to: &result)
    return String(result)
  }

  private static func appendOrdered(_ run: inout [Unicode.Scalar], to result: inout UnicodeScalarView) {
    if run.count < 2 {
      result.append(contentsOf: run)
    } else {
      for (_, marks) in Dictionary(grouping: run, by: \.combiningClass).sorted(by: { $0.key < $1.key }) {
        result.append(contentsOf: marks)
      }
    }
    run.removeAll(keepingCapacity: true)
  }
}

extension Unicode.Scalar {
  fileprivate var combiningClass: UInt8 { properties.canonicalCombiningClass.rawValue }

  /// Whether the scalar is a combining mark, or decomposes into marks only.
  var mayBecomeMarks: Bool {
    switch value {
    case ..<0x300: false
    case 0xF73, 0xF75, 0xF81, 0xFF9E, 0xFF9F: true
    default: combiningClass != 0
    }
  }

  fileprivate func decomposed(compatibly: Bool) -> String.UnicodeScalarView {
    let text = String(Character(self))
    if isASCII { return text.unicodeScalars }
    return
      (compatibly ? text.decomposedStringWithCompatibilityMapping : text.decomposedStringWithCanonicalMapping)
      .unicodeScalars
  }
}
