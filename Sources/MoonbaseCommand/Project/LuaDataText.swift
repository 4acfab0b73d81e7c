import MoonbasePlatform

/// A text in a Lua source, in quotes or long brackets, with its escapes.
///
/// Examples are `"a\n"`, `'a'` and `[[a]]`. The escapes are those of Lua 5.4.
struct LuaDataText {
  /// The reason why a text is refused, with the index of the byte in the source.
  struct Mistake: Error {
    /// The reason.
    let message: String
    /// The index of the byte.
    let offset: Int
  }

  /// The source of the text, with its quotes.
  private let bytes: ArraySlice<UInt8>
  /// Whether the text has its end within the source.
  private let isWhole: Bool

  /// Takes a text from a source. It is decoded later.
  ///
  /// - Parameters:
  ///   - bytes: The source with its quotes.
  ///   - isWhole: Whether the source contains the end.
  init(_ bytes: ArraySlice<UInt8>, isWhole: Bool) { (self.bytes, self.isWhole) = (bytes, isWhole) }

  /// The text without quotes and escapes.
  ///
  /// - Throws: A `Mistake` for an unknown escape, a missing end, or bytes that are not valid UTF-8.
  func decoded() throws(Mistake) -> String {
    let decoded = bytes.first == UInt8(ascii: "[") ? try long() : try quoted()
    guard decoded.withUnsafeBytes({ $0.isUTF8 }) else { throw mistake("a text is no UTF-8") }
    return String(decoding: decoded, as: UTF8.self)
  }

  /// A mistake at the start of the text.
  private func mistake(_ message: String) -> Mistake { Mistake(message: message, offset: bytes.startIndex) }

  /// Decodes a text in long brackets. There are no escapes, and a line end at the start is removed.
  private func long() throws(Mistake) -> [UInt8] {
    let level = bytes.dropFirst().prefix { $0 == UInt8(ascii: "=") }.count
    let ending = [UInt8(ascii: "]")] + Array(repeating: UInt8(ascii: "="), count: level) + [UInt8(ascii: "]")]
    var inside = bytes.dropFirst(ending.count)
    guard inside.suffix(ending.count).elementsEqual(ending) else {
      throw mistake("a text in long brackets does not end")
    }
    inside = inside.dropLast(ending.count)
    if inside.first == UInt8(ascii: "\r") { inside = inside.dropFirst() }
    if inside.first == UInt8(ascii: "\n") { inside = inside.dropFirst() }
    return Array(inside)
  }

  /// Decodes a text in quotes.
  private func quoted() throws(Mistake) -> [UInt8] {
    guard isWhole, bytes.count > 1, bytes.last == bytes.first else { throw mistake("a text does not end in its line") }
    var rest = bytes.dropFirst().dropLast()
    var text: [UInt8] = []
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        text.append(byte)
        continue
      }
      let start = rest.startIndex
      guard let code = Self.consumeEscape(&rest) else {
        let character = String(decoding: bytes[start...].prefix(4), as: UTF8.self).prefix(1)
        throw Mistake(message: "'\\\(character)' is no escape of Lua", offset: start - 1)
      }
      text += code
    }
    return text
  }

  // MARK: Escapes

  /// The escapes with one letter and their bytes.
  private static let letters: [UInt8: UInt8] = [
    UInt8(ascii: "a"): 7, UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12, UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13,
    UInt8(ascii: "t"): 9, UInt8(ascii: "v"): 11, UInt8(ascii: "\\"): 92, UInt8(ascii: "\""): 34, UInt8(ascii: "'"): 39,
    UInt8(ascii: "\n"): 10,
  ]

  /// Reads the escape after a backslash, and returns its bytes. Returns nil if Lua has no such escape.
  private static func consumeEscape(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
    guard let byte = rest.first else { return nil }
    if isDigit(byte) { return consumeByte(&rest, digits: rest.prefix(3).prefix(while: isDigit).count, radix: 10) }
    rest.removeFirst()
    if let known = letters[byte] { return [known] }
    switch byte {
    case UInt8(ascii: "z"):
      rest = rest.drop { $0 == UInt8(ascii: " ") || (9...13).contains($0) }
      return []
    case UInt8(ascii: "x"): return rest.count < 2 ? nil : consumeByte(&rest, digits: 2, radix: 16)
    case UInt8(ascii: "u"): return consumeScalar(&rest)
    default: return nil
    }
  }

  /// Reads a byte from its digits.
  ///
  /// - Parameters:
  ///   - rest: The source, from which the digits are removed.
  ///   - digits: The number of digits.
  ///   - radix: 10 or 16.
  private static func consumeByte(_ rest: inout ArraySlice<UInt8>, digits: Int, radix: Int) -> [UInt8]? {
    guard let byte = UInt8(String(decoding: rest.prefix(digits), as: UTF8.self), radix: radix) else { return nil }
    rest = rest.dropFirst(digits)
    return [byte]
  }

  /// Reads a character from its number in braces.
  ///
  /// Example: after `\u`, the text `{48}` is the letter H.
  private static func consumeScalar(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
    guard rest.popFirst() == UInt8(ascii: "{") else { return nil }
    let digits = rest.prefix { $0 != UInt8(ascii: "}") }
    guard digits.count < rest.count, let number = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
      let scalar = Unicode.Scalar(number)
    else { return nil }
    rest = rest.dropFirst(digits.count + 1)
    return Array(String(Character(scalar)).utf8)
  }

  /// Whether a byte is a decimal digit.
  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
