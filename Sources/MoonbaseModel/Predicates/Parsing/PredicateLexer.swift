/// Splits predicate text into tokens, on demand.
///
/// The lexer works on UTF-8 bytes and makes no strings. Bytes above 127 count as letters, so names
/// may be in any script. Errors are `.invalidPredicate` with the column.
struct PredicateLexer {
  /// The text as UTF-8.
  let bytes: [UInt8]
  /// The position of the next byte.
  private(set) var position = 0

  /// A lexer at the beginning of a text.
  init(_ text: String) { bytes = Array(text.utf8) }

  /// The byte at an index; 0 behind the end.
  private func byte(_ index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }

  /// Skips white space and returns the next byte without consuming it, or 0 at the end.
  mutating func peekByte() -> UInt8 {
    while position < bytes.count, bytes[position] <= 0x20 { position += 1 }
    return byte(position)
  }

  /// The next token.
  ///
  /// At the end of the text, the token has kind `end`.
  mutating func next() throws(ModelError) -> PredicateToken {
    let first = peekByte()
    let start = position
    guard position < bytes.count else { return PredicateToken(kind: .end, start: start, end: start) }
    let kind = try scan(first)
    return PredicateToken(kind: kind, start: start, end: position)
  }

  /// Scans a token by its first byte.
  private mutating func scan(_ first: UInt8) throws(ModelError) -> PredicateToken.Kind {
    switch first {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return try scanString(quote: first)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return try scanNumber()
    case UInt8(ascii: "$"):
      position += 1
      return try scanName(.variable, what: "a variable's name behind $")
    case UInt8(ascii: "@"):
      position += 1
      return try scanName(.keyPathOperator, what: "an operator's name behind @, for example @count")
    case UInt8(ascii: "#"): return try scanEscaped()
    case UInt8(ascii: "%"): return try scanPlaceholder()
    default:
      if Self.isNameStart(first) { return try scanWord() }
      return try scanSign(first)
    }
  }

  // MARK: Names

  /// Whether a byte may begin a name.
  static func isNameStart(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return lower >= 0x61 && lower <= 0x7A || byte == UInt8(ascii: "_") || byte >= 0x80
  }

  /// Whether a byte may be part of a name.
  static func isName(_ byte: UInt8) -> Bool { isNameStart(byte) || byte >= 0x30 && byte <= 0x39 }

  /// Skips a name.
  private mutating func skipName() throws(ModelError) {
    let start = position
    while Self.isName(byte(position)) { position += 1 }
    try checkName(from: start)
  }

  /// Throws for a name that is too long, or with too many combining marks.
  private func checkName(from start: Int) throws(ModelError) {
    guard position - start > TextLimits.greatestPath else {
      // Combining marks are not ASCII, and a short name has few of them.
      guard position - start > 60, let mistake = mistake(ofName: bytes[start..<position]) else { return }
      throw error("a name has \(mistake)", at: start)
    }
    throw error("a name has at most \(TextLimits.greatestPath) bytes, and this one has \(position - start)", at: start)
  }

  /// Scans a name behind a sign such as `$` or `@`.
  private mutating func scanName(_ kind: PredicateToken.Kind, what: String) throws(ModelError) -> PredicateToken.Kind {
    guard Self.isNameStart(byte(position)) else { throw error("expected \(what)", at: position) }
    try skipName()
    return kind
  }

  /// The mistake in a name; nil if it is valid.
  private func mistake(ofName bytes: ArraySlice<UInt8>) -> String? {
    TextLimits.mistake(ofName: String(decoding: bytes, as: UTF8.self))
  }

  /// Scans a name, a keyword, or the name of a function with colons.
  private mutating func scanWord() throws(ModelError) -> PredicateToken.Kind {
    let start = position
    try skipName()
    if byte(position) == UInt8(ascii: ":"), byte(position + 1) != UInt8(ascii: "=") {
      while Self.isName(byte(position)) || byte(position) == UInt8(ascii: ":") { position += 1 }
      try checkName(from: start)
      return .selector
    }
    if bytes[start] >= 0x80 { try refuseTypography(at: start) }
    if let keyword = PredicateKeyword.find(bytes[start..<position]) { return .keyword(keyword) }
    return .identifier
  }

  /// Refuses typographic quotation marks and operators, which word processors insert in place of ASCII.
  private func refuseTypography(at start: Int) throws(ModelError) {
    guard let character = String(decoding: bytes[start...], as: UTF8.self).unicodeScalars.first else { return }
    if "“”„‘’‚«»".unicodeScalars.contains(character) {
      throw error("\(character) does not quote text here; write ' or \"", at: start)
    }
    if "≤≥≠×÷−…".unicodeScalars.contains(character) || character.properties.isWhitespace {
      throw error("\(character) is no operator here; write <=, >=, != and ASCII signs", at: start)
    }
  }

  /// Scans a key behind `#`: a name, or a text in quotes.
  private mutating func scanEscaped() throws(ModelError) -> PredicateToken.Kind {
    position += 1
    let quote = byte(position)
    if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
      let start = position
      _ = try scanString(quote: quote)
      try checkName(from: start)
      return .escapedIdentifier
    }
    return try scanName(.escapedIdentifier, what: "a key behind #")
  }

  // MARK: Literals

  /// Scans a text up to its closing quote. Escapes are skipped here and resolved by the parser.
  private mutating func scanString(quote: UInt8) throws(ModelError) -> PredicateToken.Kind {
    let start = position
    position += 1
    while position < bytes.count, bytes[position] != quote {
      position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    guard position < bytes.count else {
      position = bytes.count
      throw error("the text that begins here has no closing \(Character(UnicodeScalar(quote)))", at: start)
    }
    position += 1
    return .string
  }

  /// Scans a number: digits with point and exponent, or `0x`, `0o` and `0b` with digits.
  private mutating func scanNumber() throws(ModelError) -> PredicateToken.Kind {
    let start = position
    var kind = PredicateToken.Kind.integer
    if byte(position) == UInt8(ascii: "0"), Self.isRadix(byte(position + 1)) {
      position += 2
      try skipName()
      return kind
    }
    skipDigits()
    if byte(position) == UInt8(ascii: "."), Self.isDigit(byte(position + 1)) {
      kind = .real
      position += 1
      skipDigits()
    }
    if byte(position) | 0x20 == UInt8(ascii: "e") {
      let sign = byte(position + 1)
      let digits = sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") ? position + 2 : position + 1
      if Self.isDigit(byte(digits)) {
        kind = .real
        position = digits
        skipDigits()
      }
    }
    guard !Self.isNameStart(byte(position)) else {
      throw error("a number cannot be followed by a letter; a key cannot begin with a digit", at: start)
    }
    return kind
  }

  /// Whether a letter behind a zero makes a number hexadecimal, octal or binary.
  private static func isRadix(_ letter: UInt8) -> Bool {
    letter | 0x20 == UInt8(ascii: "x") || letter == UInt8(ascii: "o") || letter == UInt8(ascii: "b")
  }

  /// Skips decimal digits.
  private mutating func skipDigits() { while Self.isDigit(byte(position)) { position += 1 } }

  /// Whether a byte is a decimal digit.
  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  /// Scans a placeholder such as `%@` or `%ld`, or the remainder operator `%%`.
  private mutating func scanPlaceholder() throws(ModelError) -> PredicateToken.Kind {
    let start = position
    position += 1
    if byte(position) == UInt8(ascii: "%") {
      position += 1
      return .modulus
    }
    while [UInt8(ascii: "l"), UInt8(ascii: "h"), UInt8(ascii: "q"), UInt8(ascii: "z")].contains(byte(position)) {
      position += 1
    }
    guard Array("@KdDiuUxXofFeEgGsSc".utf8).contains(byte(position)) else {
      throw error(
        "expected a placeholder such as %@, %K, %d or %f; the remainder of a division is written %%", at: start)
    }
    position += 1
    return .placeholder
  }

  // MARK: Signs

  /// Scans an operator or a bracket of one or two characters.
  private mutating func scanSign(_ first: UInt8) throws(ModelError) -> PredicateToken.Kind {
    let start = position
    let second = byte(position + 1)
    position += 2
    switch (first, second) {
    case (UInt8(ascii: "="), UInt8(ascii: "=")): return .compare(.equal)
    case (UInt8(ascii: "="), UInt8(ascii: "<")): return .compare(.lessThanOrEqual)
    case (UInt8(ascii: "="), UInt8(ascii: ">")): return .compare(.greaterThanOrEqual)
    case (UInt8(ascii: "<"), UInt8(ascii: "=")): return .compare(.lessThanOrEqual)
    case (UInt8(ascii: "<"), UInt8(ascii: ">")): return .compare(.notEqual)
    case (UInt8(ascii: ">"), UInt8(ascii: "=")): return .compare(.greaterThanOrEqual)
    case (UInt8(ascii: "!"), UInt8(ascii: "=")): return .compare(.notEqual)
    case (UInt8(ascii: ":"), UInt8(ascii: "=")): return .assign
    case (UInt8(ascii: "&"), UInt8(ascii: "&")): return .andSign
    case (UInt8(ascii: "|"), UInt8(ascii: "|")): return .orSign
    case (UInt8(ascii: "*"), UInt8(ascii: "*")): return .power
    case (UInt8(ascii: "<"), UInt8(ascii: "<")): return .leftShift
    case (UInt8(ascii: ">"), UInt8(ascii: ">")): return .rightShift
    default: break
    }
    position = start + 1
    switch first {
    case UInt8(ascii: "="): return .compare(.equal)
    case UInt8(ascii: "<"): return .compare(.lessThan)
    case UInt8(ascii: ">"): return .compare(.greaterThan)
    case UInt8(ascii: "!"): return .bang
    case UInt8(ascii: "("): return .leftParenthesis
    case UInt8(ascii: ")"): return .rightParenthesis
    case UInt8(ascii: "{"): return .leftBrace
    case UInt8(ascii: "}"): return .rightBrace
    case UInt8(ascii: "["): return .leftBracket
    case UInt8(ascii: "]"): return .rightBracket
    case UInt8(ascii: ","): return .comma
    case UInt8(ascii: "."): return .period
    case UInt8(ascii: "+"): return .plus
    case UInt8(ascii: "-"): return .minus
    case UInt8(ascii: "*"): return .times
    case UInt8(ascii: "/"): return .divide
    case UInt8(ascii: "&"): return .ampersand
    case UInt8(ascii: "|"): return .bar
    case UInt8(ascii: "^"): return .caret
    case UInt8(ascii: "~"): return .tilde
    default:
      position = start
      throw error("\(Character(UnicodeScalar(first))) means nothing in a predicate", at: start)
    }
  }

  // MARK: Errors

  /// An error that names the column of a byte, counted in characters from 1, and quotes the text around it.
  func error(_ problem: String, at offset: Int) -> ModelError {
    let before = String(decoding: bytes[..<min(offset, bytes.count)], as: UTF8.self)
    let behind = String(decoding: bytes[min(offset, bytes.count)...].prefix(4 * Self.shownLength), as: UTF8.self)
    let start = before.count > Self.shownLength ? "…\(before.suffix(Self.shownLength))" : before
    let end = behind.count > Self.shownLength ? "\(behind.prefix(Self.shownLength))…" : behind
    return ModelError(.invalidPredicate, message: "column \(before.count + 1): \(problem), in: \(start)\(end)")
  }

  /// The number of characters shown on each side of a mistake.
  private static let shownLength = 60
}
