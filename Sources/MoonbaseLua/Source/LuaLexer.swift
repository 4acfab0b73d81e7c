/// A tokenizer for Lua source, as precise as needed to find the keys of literal tables.
///
/// Used for the lines of keys, for nesting, and by the prompt. Comments are skipped; invalid source never fails but
/// gives some tokens. A copy of the tokenizer continues at the same place.
package struct LuaLexer {
  /// A token.
  package enum Token: Equatable {
    /// A name or a keyword.
    case name(String)
    /// The contents of a string.
    case string(String)
    /// A number as it is written.
    case number(String)
    /// A single byte, or the code of `withEqual`.
    case symbol(UInt8)
    /// The end of the source.
    case end
  }

  /// The keywords, which cannot be names of variables.
  package static let keywords: Set<String> = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil",
    "not", "or", "repeat", "return", "then", "true", "until", "while",
  ]

  /// The source.
  private let bytes: [UInt8]
  /// The start of the last token.
  package private(set) var start = 0
  /// The end of the last token.
  package private(set) var at = 0
  /// The line of `at`, from 1.
  private(set) var line = 1

  /// A tokenizer at the beginning of the bytes. Nothing is read yet.
  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads the next token, with the line of its first byte. After the end it returns `.end` again.
  package mutating func next() -> (token: Token, line: Int) {
    skipSpace()
    start = at
    let line = line
    guard let byte = peek() else { return (.end, line) }
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return (.string(quoted(byte)), line)
    case UInt8(ascii: "["):
      if let text = long() { return (.string(text), line) }
      at += 1
      return (.symbol(byte), line)
    case _ where Self.isDigit(byte) || byte == UInt8(ascii: ".") && peek(1).map(Self.isDigit) == true:
      return (.number(number()), line)
    case _ where Self.isName(byte): return (.name(consume(Self.isName)), line)
    default:
      at += 1
      // "==", "<=", ">=" and "~=" are not assignments.
      if [UInt8(ascii: "="), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "~")].contains(byte),
        peek() == UInt8(ascii: "=")
      {
        at += 1
        return (.symbol(Self.withEqual(byte)), line)
      }
      return (.symbol(byte), line)
    }
  }

  /// The symbol of "==", "<=", ">=" or "~=", by its first byte. An ASCII byte with its highest bit set.
  static func withEqual(_ byte: UInt8) -> UInt8 { byte | 128 }

  /// The byte at a distance; nil beyond the end.
  private func peek(_ ahead: Int = 0) -> UInt8? { at + ahead < bytes.count ? bytes[at + ahead] : nil }

  /// ASCII digits.
  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  /// Letters, digits, the underscore and all bytes of UTF-8 beyond ASCII.
  private static func isName(_ byte: UInt8) -> Bool {
    isDigit(byte) || byte == UInt8(ascii: "_") || byte >= 128
      || (byte | 32 >= UInt8(ascii: "a") && byte | 32 <= UInt8(ascii: "z"))
  }

  /// The longest text of bytes that `belongs` accepts.
  private mutating func consume(_ belongs: (UInt8) -> Bool) -> String {
    let start = at
    while let byte = peek(), belongs(byte) { at += 1 }
    return String(decoding: bytes[start..<at], as: UTF8.self)
  }

  /// A number, including the sign of its exponent. For example `0x1p-3` and `1e+5`.
  private mutating func number() -> String {
    let start = at
    let exponent: UInt8 = byte(at + 1) | 32 == UInt8(ascii: "x") ? UInt8(ascii: "p") : UInt8(ascii: "e")
    while let byte = peek() {
      let isSign = byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
      guard Self.isName(byte) || byte == UInt8(ascii: ".") || isSign && at > start && self.byte(at - 1) | 32 == exponent
      else { break }
      at += 1
    }
    return String(decoding: bytes[start..<at], as: UTF8.self)
  }

  /// 0 beyond the end.
  private func byte(_ place: Int) -> UInt8 { place < bytes.count ? bytes[place] : 0 }

  /// Skips white space and comments, and counts lines.
  private mutating func skipSpace() {
    while let byte = peek() {
      if byte == UInt8(ascii: "\n") { line += 1 }
      if byte == UInt8(ascii: " ") || (byte >= 9 && byte <= 13) {
        at += 1
      } else if byte == UInt8(ascii: "-"), peek(1) == UInt8(ascii: "-") {
        at += 2
        if long() == nil { while let byte = peek(), byte != UInt8(ascii: "\n") { _ = byte; at += 1 } }
      } else {
        return
      }
    }
  }

  /// The text of a quoted string. Escapes are kept, except those of quotes and backslashes. Ends at the line's end if
  /// the quote is missing.
  private mutating func quoted(_ quote: UInt8) -> String {
    at += 1
    var text: [UInt8] = []
    while let byte = peek(), byte != quote, byte != UInt8(ascii: "\n") {
      if byte == UInt8(ascii: "\\"), let escaped = peek(1) {
        if escaped == UInt8(ascii: "\n") { line += 1 }
        if escaped != quote, escaped != UInt8(ascii: "\\") { text.append(byte) }
        text.append(escaped)
        at += 2
        if escaped == UInt8(ascii: "z") { skipSpaceInText() }
      } else {
        text.append(byte)
        at += 1
      }
    }
    at += 1
    return String(decoding: text, as: UTF8.self)
  }

  /// Skips the white space after `\z`, including line breaks.
  private mutating func skipSpaceInText() {
    while let byte = peek(), byte == UInt8(ascii: " ") || (9...13).contains(byte) {
      if byte == UInt8(ascii: "\n") { line += 1 }
      at += 1
    }
  }

  /// A string in long brackets; nil if none begins here. For example `[[text]]` and `[==[text]==]`.
  private mutating func long() -> String? {
    guard peek() == UInt8(ascii: "[") else { return nil }
    var level = 0
    while peek(1 + level) == UInt8(ascii: "=") { level += 1 }
    guard peek(1 + level) == UInt8(ascii: "[") else { return nil }
    at += level + 2
    let start = at
    while let byte = peek() {
      if byte == UInt8(ascii: "\n") { line += 1 }
      if byte == UInt8(ascii: "]"), closes(level) {
        let text = String(decoding: bytes[start..<at], as: UTF8.self)
        at += level + 2
        return text
      }
      at += 1
    }
    return String(decoding: bytes[start..<at], as: UTF8.self)
  }

  /// Whether a closing bracket of this level begins here.
  private func closes(_ level: Int) -> Bool {
    for place in 0..<level where peek(1 + place) != UInt8(ascii: "=") { return false }
    return peek(1 + level) == UInt8(ascii: "]")
  }
}
