import MoonbasePlatform

extension [UInt8] {
  /// Appends a text as a JSON string.
  ///
  /// For example, `a"b` becomes `"a\"b"` with its quotes.
  package mutating func append(quoted text: String) {
    var text = text
    text.withUTF8 { append(quotedUTF8: UnsafeRawBufferPointer($0)) }
  }

  /// Appends a UTF-8 text as a JSON string.
  ///
  /// Control characters, quotes and backslashes are escaped. All other bytes are copied, in pieces
  /// as long as possible.
  package mutating func append(quotedUTF8 text: UnsafeRawBufferPointer) {
    append(UInt8(ascii: "\""))
    var (start, place) = (0, 0)
    while place < text.count {
      let byte = text[place]
      if byte < 0x20 || byte == 0x22 || byte == 0x5c || byte == 0x7f {
        append(contentsOf: UnsafeRawBufferPointer(rebasing: text[start..<place]))
        start = place + 1
        append(escaped: byte)
      }
      place += 1
    }
    append(contentsOf: UnsafeRawBufferPointer(rebasing: text[start...]))
    append(UInt8(ascii: "\""))
  }

  /// Appends an escape: the short form if there is one, otherwise `\u` with four digits.
  private mutating func append(escaped byte: UInt8) {
    append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
    case 0x0a: append(UInt8(ascii: "n"))
    case 0x0d: append(UInt8(ascii: "r"))
    case 0x09: append(UInt8(ascii: "t"))
    default:
      let digits = String(byte, radix: 16)
      append(contentsOf: "u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
    }
  }
}

extension [UInt8] {
  /// Appends a csv field, in quotes if needed.
  ///
  /// - Parameters:
  ///   - text: The text of the field.
  ///   - separator: The byte between fields.
  ///   - isQuoted: Whether quotes are needed in any case, as for an empty text.
  package mutating func append(field text: String, separator: UInt8, isQuoted: Bool) {
    var text = text
    text.withUTF8 { append(fieldUTF8: UnsafeRawBufferPointer($0), separator: separator, isQuoted: isQuoted) }
  }

  /// Appends a UTF-8 text as a csv field, in quotes if needed.
  ///
  /// Quotes within the text are doubled (RFC 4180). A field needs quotes if it has the separator, a
  /// quote or a line break.
  package mutating func append(fieldUTF8 text: UnsafeRawBufferPointer, separator: UInt8, isQuoted: Bool) {
    let quote = UInt8(ascii: "\"")
    let needsQuotes = isQuoted || text.contains { $0 == separator || $0 == quote || $0 == 0x0a || $0 == 0x0d }
    guard needsQuotes else { return append(contentsOf: text) }
    append(quote)
    for byte in text {
      if byte == quote { append(byte) }
      append(byte)
    }
    append(quote)
  }
}
