extension String {
  /// Unicode's normalization forms.
  package enum NormalizationForm: String {
    case composed = "NFC"
    case decomposed = "NFD"
    case compatiblyComposed = "NFKC"
    case compatiblyDecomposed = "NFKD"

    fileprivate var isCompatible: Bool { self == .compatiblyComposed || self == .compatiblyDecomposed }
  }

  /// The text in a normalization form, in a time in proportion to its length. Of a long run of marks Foundation would lose some.
  package func normalized(_ form: NormalizationForm) -> String {
    let text = hasLongRunOfMarks ? withOrderedMarks(compatibly: form.isCompatible) : self
    return switch form {
    case .composed: text.precomposedStringWithCanonicalMapping
    case .decomposed: text.decomposedStringWithCanonicalMapping
    case .compatiblyComposed: text.precomposedStringWithCompatibilityMapping
    case .compatiblyDecomposed: text.decomposedStringWithCompatibilityMapping
    }
  }

  /// More marks on one letter than any language has.
  private static let longRun = 30

  /// Whether a letter has more marks than any language would give it.
  ///
  /// Foundation, and Swift where it compares or hashes a text, put the marks of a letter in order by insertion. That takes the square
  /// of their number, unless they are in order.
  package var hasLongRunOfMarks: Bool {
    var length = 0
    for scalar in unicodeScalars {
      length = scalar.mayBecomeMarks ? length + 1 : 0
      if length > Self.longRun { return true }
    }
    return false
  }

  /// More bytes than the name of anything has that is looked up by it.
  private static let longName = 1000

  /// The text of a key, to be looked up among names and shown in messages: one that is longer than a name, or has more marks on a
  /// letter, is cut off, and like none.
  package var asName: String {
    utf8.count > Self.longName || hasLongRunOfMarks ? String(unicodeScalars.prefix(2 * Self.longRun)) + "…" : self
  }

  /// The text decomposed, with the marks behind each letter in the order of their classes; those of one class stay as they were.
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

  /// Whether it is a mark that goes with a letter before it, or becomes such marks alone.
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
