import MoonbaseModel
import MoonbasePlatform

extension [UInt8] {
  /// A value as JSON: dates as text or seconds, decimals, UUIDs and URIs as text, bytes as base64.
  mutating func append(json value: Value, dates: DateForm, column: String, losses: inout OutputLosses) {
    switch value {
    case .null: append(contentsOf: "null".utf8)
    case .bool(let flag): append(contentsOf: flag ? "true".utf8 : "false".utf8)
    case .int(let number): append(contentsOf: String(number).utf8)
    case .double(let number) where !number.isFinite:
      losses.noteNotFinite(in: column)
      append(contentsOf: "null".utf8)
    case .double(let number): append(contentsOf: number.description.utf8)
    case .date(let date) where dates != .iso: append(contentsOf: dates.text(date).utf8)
    case .list(let list):
      append(UInt8(ascii: "["))
      for (index, element) in list.enumerated() {
        if index > 0 { append(contentsOf: ", ".utf8) }
        append(json: element, dates: dates, column: column, losses: &losses)
      }
      append(UInt8(ascii: "]"))
    case .map(let map):
      append(UInt8(ascii: "{"))
      for (index, entry) in map.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { append(contentsOf: ", ".utf8) }
        append(quoted: entry.key)
        append(contentsOf: ": ".utf8)
        append(json: entry.value, dates: dates, column: column, losses: &losses)
      }
      append(UInt8(ascii: "}"))
    case .object(let object):
      losses.note(object, in: column)
      append(quoted: value.description)
    default: append(quoted: value.description)
    }
  }

  /// A text in quotes, as JSON has it.
  mutating func append(quoted text: String) {
    var text = text
    text.withUTF8 { append(quotedUTF8: UnsafeRawBufferPointer($0)) }
  }

  /// The same of a text that is there as UTF-8.
  mutating func append(quotedUTF8 text: UnsafeRawBufferPointer) {
    append(UInt8(ascii: "\""))
    var start = 0
    for (place, byte) in text.enumerated() where byte < 0x20 || byte == 0x22 || byte == 0x5c || byte == 0x7f {
      append(contentsOf: text[start..<place])
      start = place + 1
      append(escaped: byte)
    }
    append(contentsOf: text[start...])
    append(UInt8(ascii: "\""))
  }

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
  /// A field of csv or of its like, in quotes where it needs them.
  mutating func append(field text: String, separator: UInt8, isQuoted: Bool) {
    let quote = UInt8(ascii: "\"")
    let needsQuotes = isQuoted || text.utf8.contains { $0 == separator || $0 == quote || $0 == 0x0a || $0 == 0x0d }
    guard needsQuotes else { return append(contentsOf: text.utf8) }
    append(quote)
    for byte in text.utf8 {
      if byte == quote { append(byte) }
      append(byte)
    }
    append(quote)
  }
}
