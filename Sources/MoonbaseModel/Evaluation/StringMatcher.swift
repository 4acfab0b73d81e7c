import MoonbasePlatform

/// A string operator with a prepared pattern. Defines the meaning of `CONTAINS[cd]` and similar operators, both for
/// evaluation in memory and for the functions that a store registers.
///
/// The pattern is folded once. ASCII texts are compared byte by byte without copies. Texts with
/// further characters are folded first. A matcher is immutable and may be used from any thread.
package struct StringMatcher: Sendable {
  /// The kind of comparison.
  private enum Test: Sendable {
    /// Substring, prefix, suffix and equality.
    case contains, beginsWith, endsWith, equal
    /// A pattern of `LIKE`.
    case like(GlobPattern)
    /// A regular expression of `MATCHES`, for the whole text.
    case matches(WholeMatch)
  }

  /// The comparison.
  private let test: Test
  /// The options.
  private let options: Predicate.Comparison.Options
  /// The folded pattern as UTF-8.
  private let pattern: [UInt8]
  /// Whether texts are folded.
  private let isFolding: Bool

  /// Prepares CONTAINS, BEGINSWITH, ENDSWITH, LIKE, MATCHES or `==`. Throws for an invalid regular expression.
  package init(
    _ operator: Predicate.Comparison.Operator, pattern: String, options: Predicate.Comparison.Options
  ) throws(ModelError) {
    if `operator` == .like || `operator` == .matches { try TextLimits.check(pattern: pattern) }
    let folded = options.fold(pattern)
    self.options = options
    self.pattern = Array(folded.utf8)
    isFolding = options.isFolding
    switch `operator` {
    case .contains: test = .contains
    case .beginsWith: test = .beginsWith
    case .endsWith: test = .endsWith
    case .like: test = .like(GlobPattern(folded))
    case .matches:
      // Case folding would turn \D into \d, so the regular expression itself ignores case.
      let text = options.subtracting(.caseInsensitive).fold(pattern)
      let isCaseInsensitive = options.contains(.caseInsensitive)
      test = .matches(
        try RegularExpressionCache.shared.expression(text, isCaseInsensitive: isCaseInsensitive))
    default: test = .equal
    }
  }

  /// Whether the text satisfies the operator. Throws `.evaluation` if a regular expression takes too many steps.
  package func matches(_ text: String) throws -> Bool {
    if case .matches(let expression) = test {
      return try expression.matches(options.subtracting(.caseInsensitive).fold(text))
    }
    if let result = text.utf8.withContiguousStorageIfAvailable({ matches(utf8: $0) }), let result { return result }
    return matches(folded: options.fold(text))
  }

  /// The result if the bytes suffice: without folding, or in ASCII; nil otherwise.
  package func matches(utf8 text: UnsafeBufferPointer<UInt8>) -> Bool? {
    if case .like(let glob) = test {
      return text.isPlainASCII ? glob.matches(text, isFolding: options.contains(.caseInsensitive)) : nil
    }
    if !isFolding { return search(text, lowercasing: false) }
    guard text.isPlainASCII else { return nil }
    return search(text, lowercasing: options.contains(.caseInsensitive))
  }

  /// The result for a text that is folded already.
  private func matches(folded text: String) -> Bool {
    if case .like(let glob) = test { return glob.matches(text) }
    var text = text
    return text.withUTF8 { search($0, lowercasing: false) }
  }

  // MARK: Bytes

  /// Searches the pattern in the bytes of a text.
  private func search(_ text: UnsafeBufferPointer<UInt8>, lowercasing: Bool) -> Bool {
    guard text.count >= pattern.count else { return false }
    let last = text.count - pattern.count
    return pattern.withUnsafeBufferPointer { pattern in
      switch test {
      case .equal: last == 0 && text.has(pattern, at: 0, lowercasing: lowercasing)
      case .beginsWith: text.has(pattern, at: 0, lowercasing: lowercasing)
      case .endsWith: text.has(pattern, at: last, lowercasing: lowercasing)
      default: pattern.isEmpty || text.contains(pattern, lowercasing: lowercasing)
      }
    }
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Each position may take as many steps as the pattern is long. The result of an ended run is ignored.
  fileprivate func contains(_ pattern: UnsafeBufferPointer<UInt8>, lowercasing: Bool) -> Bool {
    let places = count - pattern.count + 1
    let stride = Swift.max(1, Self.steps / pattern.count)
    var start = 0
    while start < places {
      let end = Swift.min(places, start + stride)
      for place in start..<end where has(pattern, at: place, lowercasing: lowercasing) { return true }
      if HostWork.mustEnd(after: Swift.max(1, (end - start) >> 6)) { return false }
      if pattern.count > Self.longPattern, HostWork.isOver { return false }
      start = end
    }
    return false
  }

  /// The number of steps between checks whether the run must end.
  private static var steps: Int { 1 << 16 }

  /// The pattern length from which checking the clock costs little compared to the search.
  private static var longPattern: Int { 4096 }

  /// Whether all bytes are ASCII without carriage returns, which form a single character with a following line feed.
  fileprivate var isPlainASCII: Bool {
    for byte in self where byte >= 0x80 || byte == 13 { return false }
    return true
  }

  /// Whether the bytes at an offset equal the pattern.
  @inline(__always)
  fileprivate func has(_ pattern: UnsafeBufferPointer<UInt8>, at offset: Int, lowercasing: Bool) -> Bool {
    for index in 0..<pattern.count {
      let byte = self[offset + index]
      if (lowercasing ? byte.lowercasedASCII : byte) != pattern[index] { return false }
    }
    return true
  }
}

extension UInt8 {
  /// The byte with an ASCII letter in lower case.
  @inline(__always)
  var lowercasedASCII: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

extension Predicate.Comparison.Options {
  /// Whether texts are folded before comparison.
  var isFolding: Bool { !intersection([.caseInsensitive, .diacriticInsensitive, .localeSensitive]).isEmpty }
}
