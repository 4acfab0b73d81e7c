/// What entities and properties may be called: key paths, predicates and SQL all have to name them.
enum Identifier {
  /// What to say of a name that is none.
  static let rule = "a name consists of letters, digits and underscores and does not begin with a digit: rename it"

  static func isOne(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, isLetter(first) else { return false }
    return name.unicodeScalars.dropFirst().allSatisfy { scalar in
      isLetter(scalar) || isMarkOrDigit(scalar)
    }
  }

  /// A name that may hold anything, for a message.
  static func shown(_ name: String) -> String { name.debugDescription }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool { scalar == "_" || scalar.properties.isAlphabetic }

  private static func isMarkOrDigit(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .decimalNumber, .nonspacingMark, .spacingMark: true
    default: false
    }
  }
}
