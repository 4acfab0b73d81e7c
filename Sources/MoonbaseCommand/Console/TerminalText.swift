import MoonbasePlatform

/// Text for a terminal. Characters that move the cursor, give commands to the terminal or change the direction of text
/// are escaped, for example as `\u{1B}`. Names, values and messages can contain these characters, because they may
/// come from files of unknown origin.
///
/// The rules are those of common attacks: escape sequences, and characters that make text appear in
/// another order than it has.
enum TerminalText {
  /// Whether standard output is a terminal.
  static let isOutput = isatty(STDOUT_FILENO) == 1

  /// The text with such characters escaped. Line ends and tabs are kept.
  ///
  /// For example, an escape character becomes `\u{1B}`.
  static func escaped(_ text: String) -> String {
    var text = text
    return text.withUTF8 { escaped(UnsafeRawBufferPointer($0)).map { String(decoding: $0, as: UTF8.self) } } ?? text
  }

  /// The bytes of a UTF-8 text with such characters escaped, or nil if there are no such characters.
  ///
  /// The search for the first such character makes the common case fast.
  static func escaped(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
    guard let first = bytes.indices.first(where: { length(at: $0, in: bytes) > 0 }) else { return nil }
    var result = Array(bytes[..<first])
    var place = first
    while place < bytes.count {
      let count = length(at: place, in: bytes)
      if count == 0 {
        result.append(bytes[place])
        place += 1
      } else {
        let text = String(decoding: bytes[place..<place + count], as: UTF8.self)
        for scalar in text.unicodeScalars { result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".utf8 }
        place += count
      }
    }
    return result
  }

  /// The length in bytes of the character at an offset if it must be escaped, otherwise 0.
  private static func length(at place: Int, in bytes: UnsafeRawBufferPointer) -> Int {
    func byte(_ distance: Int) -> UInt8 { place + distance < bytes.count ? bytes[place + distance] : 0 }
    switch byte(0) {
    case 0x09, 0x0A: return 0
    case 0..<0x20, 0x7F: return 1
    // The control characters of ISO 6429. The control sequence introducer has the same effect as the escape character
    // and a bracket.
    case 0xC2: return (0x80...0x9F).contains(byte(1)) ? 2 : 0
    // The characters that separate lines and paragraphs, and the characters that change the direction of text.
    case 0xE2:
      let isTurn = byte(1) == 0x80 && (0xA8...0xAE).contains(byte(2))
      return isTurn || byte(1) == 0x81 && (0xA6...0xA9).contains(byte(2)) ? 3 : 0
    default: return 0
    }
  }
}
