import MoonbasePlatform

/// Limits for texts that are parsed before use, such as those of predicates. Parsing takes a multiple of their length
/// in time and memory.
package enum TextLimits {
  /// The most bytes of a name or a key path.
  static let greatestPath = 1 << 16

  /// The most bytes of a LIKE pattern or a regular expression.
  package static let greatestPattern = 1 << 16

  /// The keys of a path, including empty ones.
  ///
  /// Throws `.predicateMismatch` as `check(path:)` does.
  static func keys(of path: String) throws(ModelError) -> [String] {
    try check(path: path)
    return path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }

  /// Throws for a key path that is too long or too slow to look up.
  package static func check(path: String) throws(ModelError) {
    guard path.utf8.count > greatestPath else {
      guard let mistake = mistake(ofName: path) else { return }
      throw ModelError(.predicateMismatch, message: "a key path has \(mistake)")
    }
    throw ModelError(
      .predicateMismatch,
      message:
        "a key path has at most \(greatestPath) bytes, and this one has \(path.utf8.count): \(beginning(of: path))")
  }

  /// The mistake of a name that is slow to look up, as the object of a sentence: Swift normalizes the combining marks
  /// of a letter at each lookup, in time quadratic in their number.
  package static func mistake(ofName name: String) -> String? {
    name.hasLongRunOfMarks ? "more than 30 accents or other marks on one letter: \(beginning(of: name))" : nil
  }

  /// The mistake of a pattern that is too long, as the object of a sentence.
  static func mistake(ofPattern pattern: String) -> String? {
    guard pattern.utf8.count > greatestPattern else { return nil }
    return
      "a pattern of \(pattern.utf8.count) bytes, and at most \(greatestPattern) are allowed: \(beginning(of: pattern))"
  }

  /// Throws for a pattern that is too long.
  static func check(pattern: String) throws(ModelError) {
    if let mistake = mistake(ofPattern: pattern) { throw ModelError(.evaluation, message: "there is \(mistake)") }
  }

  /// The most characters of a foreign message, such as the reason of a rule.
  package static let greatestReason = 4096

  /// The beginning of a message that a script or an extension wrote.
  package static func reason(_ text: String) -> String { beginning(of: text, length: greatestReason) }

  /// The first characters of a text, for a message.
  package static func beginning(of text: String, length: Int = 60) -> String {
    if text.utf8.count <= length { return text }
    let start = String(text.unicodeScalars.prefix(length))
    return start.utf8.count < text.utf8.count ? "\(start)…" : start
  }
}
