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
    append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        append(UInt8(ascii: "\\"))
        append(byte)
      case 0x0a: append(contentsOf: "\\n".utf8)
      case 0x0d: append(contentsOf: "\\r".utf8)
      case 0x09: append(contentsOf: "\\t".utf8)
      case 0..<0x20, 0x7f:
        let digits = String(byte, radix: 16)
        append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
      default: append(byte)
      }
    }
    append(UInt8(ascii: "\""))
  }
}

extension [UInt8] {
  /// A field of csv, in quotes where it needs them.
  mutating func append(field text: String, isQuoted: Bool) {
    let special: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: "\""), 0x0a, 0x0d]
    guard isQuoted || text.utf8.contains(where: special.contains) else { return append(contentsOf: text.utf8) }
    append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") { append(byte) }
      append(byte)
    }
    append(UInt8(ascii: "\""))
  }
}
