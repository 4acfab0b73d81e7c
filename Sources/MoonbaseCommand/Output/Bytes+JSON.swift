import MoonbaseBatch
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
}
