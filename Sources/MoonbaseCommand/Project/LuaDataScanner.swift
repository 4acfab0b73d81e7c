import MoonbasePlatform

/// The characters of a Lua file of plain data, one token after the other.
struct LuaDataScanner {
  private let bytes: [UInt8]
  private var at = 0
  private var line = 1
  private var lineStart = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  // MARK: Looking

  /// The place of what stands next. Columns are counted in characters.
  var place: LuaData.Place {
    let count = bytes[min(lineStart, at)..<at].count { $0 & 0xC0 != 0x80 }
    return LuaData.Place(line: line, column: count + 1)
  }

  var isAtEnd: Bool { at == bytes.count }

  func peek(_ ahead: Int = 0) -> UInt8? { at + ahead < bytes.count ? bytes[at + ahead] : nil }

  /// The character that stands next; nil at the end.
  var character: String? {
    guard !isAtEnd else { return nil }
    return String(String(decoding: bytes[at..<min(bytes.count, at + 8)], as: UTF8.self).prefix(1))
  }

  func failure(_ message: String) -> LuaDataReader.Failure { LuaDataReader.Failure(message: message, place: place) }

  /// The name or keyword that stands next.
  func peekName() -> String? {
    guard let first = peek(), Self.isName(first), !Self.isDigit(first) else { return nil }
    return String(decoding: bytes[at..<endOfName], as: UTF8.self)
  }

  private var endOfName: Int {
    var end = at
    while end < bytes.count, Self.isName(bytes[end]) { end += 1 }
    return end
  }

  /// Whether a name is called: an argument follows it, or a field that may be.
  func isCall(of name: String) -> Bool {
    var place = at + name.utf8.count
    while place < bytes.count, bytes[place] == UInt8(ascii: " ") { place += 1 }
    return place < bytes.count && "({\"'.:".utf8.contains(bytes[place])
  }

  // MARK: Taking

  private mutating func advance() {
    if bytes[at] == UInt8(ascii: "\n") { (line, lineStart) = (line + 1, at + 1) }
    at += 1
  }

  mutating func take(_ symbol: Unicode.Scalar) -> Bool {
    guard peek() == UInt8(ascii: symbol) else { return false }
    advance()
    return true
  }

  mutating func takeName() { at = endOfName }

  /// Takes a name with the '=' behind it; false, and nothing taken, where none follows.
  mutating func isKey(behind name: String) throws(LuaDataReader.Failure) -> Bool {
    let former = self
    at = endOfName
    try skipSpace()
    if peek() == UInt8(ascii: "="), peek(1) != UInt8(ascii: "=") {
      advance()
      return true
    }
    self = former
    return false
  }

  /// A line for the system that names a program, and a byte order mark.
  mutating func skipFirstLine() {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { (at, lineStart) = (3, 3) }
    if peek() == UInt8(ascii: "#") { skipLine() }
  }

  private mutating func skipLine() { while let byte = peek(), byte != UInt8(ascii: "\n") { at += 1 } }

  /// Takes space and comments.
  mutating func skipSpace() throws(LuaDataReader.Failure) {
    while let byte = peek() {
      if byte == UInt8(ascii: " ") || (9...13).contains(byte) {
        advance()
      } else if byte == UInt8(ascii: "-"), peek(1) == UInt8(ascii: "-") {
        at += 2
        if longLevel == nil { skipLine() } else { _ = try takeLong() }
      } else {
        return
      }
    }
  }

  // MARK: Numbers

  /// A number, with a minus before it perhaps; nil where none stands next.
  mutating func takeNumber() throws(LuaDataReader.Failure) -> LuaData.Content? {
    let digit = peek() == UInt8(ascii: "-") ? peek(1) : peek()
    guard let digit, Self.isDigit(digit) || digit == UInt8(ascii: ".") else { return nil }
    let start = place
    var text = ""
    while let byte = peek(),
      Self.isName(byte) || byte == UInt8(ascii: ".") || Self.isSign(byte) && (text.isEmpty || Self.isExponent(text))
    {
      text.unicodeScalars.append(Unicode.Scalar(byte))
      at += 1
    }
    guard let number = Self.number(text) else {
      throw LuaDataReader.Failure(message: "'\(text)' is no number", place: start)
    }
    return number
  }

  private static func number(_ text: String) -> LuaData.Content? {
    let isNegative = text.hasPrefix("-")
    let digits = isNegative ? text.dropFirst() : text[...]
    if digits.lowercased().hasPrefix("0x"), let whole = UInt64(digits.dropFirst(2), radix: 16) {
      let value = Int64(bitPattern: whole)
      return .integer(isNegative ? 0 &- value : value)
    }
    if let whole = Int64(text) { return .integer(whole) }
    return Double(text).flatMap { $0.isFinite ? .number($0) : nil }
  }

  private static func isSign(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") }

  private static func isExponent(_ text: String) -> Bool {
    let isHex = text.lowercased().hasPrefix("0x") || text.lowercased().hasPrefix("-0x")
    return text.lowercased().hasSuffix(isHex ? "p" : "e")
  }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  static func isName(_ byte: UInt8) -> Bool {
    isDigit(byte) || byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 32)
  }
}

// MARK: - Texts

extension LuaDataScanner {
  /// A text in quotes or long brackets; nil where none stands next.
  mutating func takeText() throws(LuaDataReader.Failure) -> String? {
    switch peek() {
    case UInt8(ascii: "\"")?, UInt8(ascii: "'")?: return try takeQuoted()
    case UInt8(ascii: "[")? where longLevel != nil: return try takeLong()
    default: return nil
    }
  }

  /// The number of '=' in the long bracket that stands next; nil where none does.
  var longLevel: Int? {
    guard peek() == UInt8(ascii: "[") else { return nil }
    var level = 0
    while peek(1 + level) == UInt8(ascii: "=") { level += 1 }
    return peek(1 + level) == UInt8(ascii: "[") ? level : nil
  }

  fileprivate mutating func takeLong() throws(LuaDataReader.Failure) -> String {
    let start = place
    let level = longLevel ?? 0
    at += level + 2
    if peek() == UInt8(ascii: "\r") { advance() }
    if peek() == UInt8(ascii: "\n") { advance() }
    let first = at
    let ending = [UInt8(ascii: "]")] + Array(repeating: UInt8(ascii: "="), count: level) + [UInt8(ascii: "]")]
    while !isAtEnd {
      if bytes[at...].starts(with: ending) {
        defer { at += ending.count }
        return String(decoding: bytes[first..<at], as: UTF8.self)
      }
      advance()
    }
    throw LuaDataReader.Failure(message: "a text in long brackets does not end", place: start)
  }

  private mutating func takeQuoted() throws(LuaDataReader.Failure) -> String {
    let start = place
    let quote = peek()
    advance()
    var text: [UInt8] = []
    while let byte = peek(), byte != UInt8(ascii: "\n") {
      if byte == quote {
        advance()
        guard text.withUnsafeBytes({ $0.isUTF8 }) else {
          throw LuaDataReader.Failure(message: "a text is no UTF-8", place: start)
        }
        return String(decoding: text, as: UTF8.self)
      }
      if byte == UInt8(ascii: "\\") {
        text += try takeEscape()
      } else {
        text.append(byte)
        at += 1
      }
    }
    throw LuaDataReader.Failure(message: "a text does not end in its line", place: start)
  }

  private static let escapes: [UInt8: UInt8] = [
    UInt8(ascii: "a"): 7, UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12, UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13,
    UInt8(ascii: "t"): 9, UInt8(ascii: "v"): 11, UInt8(ascii: "\\"): 92, UInt8(ascii: "\""): 34, UInt8(ascii: "'"): 39,
    UInt8(ascii: "\n"): 10,
  ]

  /// The bytes of an escape.
  private mutating func takeEscape() throws(LuaDataReader.Failure) -> [UInt8] {
    let start = place
    advance()
    guard let byte = peek() else { return [] }
    if let known = Self.escapes[byte] {
      advance()
      return [known]
    }
    if byte == UInt8(ascii: "z") {
      advance()
      while let byte = peek(), byte == UInt8(ascii: " ") || (9...13).contains(byte) { advance() }
      return []
    }
    if let bytes = takeCode(byte) { return bytes }
    throw LuaDataReader.Failure(message: "'\\\(character ?? "")' is no escape of Lua", place: start)
  }

  /// `\xXX`, `\ddd` and `\u{XXX}`.
  private mutating func takeCode(_ byte: UInt8) -> [UInt8]? {
    switch byte {
    case UInt8(ascii: "x"):
      guard at + 3 <= bytes.count, let code = Self.code(bytes[at + 1..<at + 3], radix: 16) else { return nil }
      at += 3
      return UInt8(exactly: code).map { [$0] }
    case UInt8(ascii: "u") where peek(1) == UInt8(ascii: "{"):
      guard let end = bytes[at...].prefix(12).firstIndex(of: UInt8(ascii: "}")),
        let code = Self.code(bytes[(at + 2)..<end], radix: 16), let scalar = Unicode.Scalar(code)
      else { return nil }
      at = end + 1
      return Array(String(Character(scalar)).utf8)
    default:
      let digits = bytes[at...].prefix(3).prefix(while: Self.isDigit)
      guard let code = Self.code(digits, radix: 10), let value = UInt8(exactly: code) else { return nil }
      at += digits.count
      return [value]
    }
  }

  private static func code(_ digits: ArraySlice<UInt8>, radix: Int) -> UInt32? {
    UInt32(String(decoding: digits, as: UTF8.self), radix: radix)
  }
}
