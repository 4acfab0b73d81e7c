import MoonbaseBatch
import MoonbaseModel
import MoonbasePlatform

/// Appends parts of JSON texts.
extension [UInt8] {
  /// Appends a number in decimal digits.
  ///
  /// It does not allocate memory, because it is called for each number of a large output.
  mutating func append(decimal number: Int64) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var (rest, start) = (number.magnitude, digits.count)
      repeat {
        start -= 1
        digits[start] = 0x30 + UInt8(rest % 10)
        rest /= 10
      } while rest > 0
      if number < 0 { append(UInt8(ascii: "-")) }
      append(contentsOf: UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: digits[start...])))
    }
  }

  /// Appends a date as quoted text. `seconds` counts from 2001.
  ///
  /// A date without such a text becomes its seconds since 1970 in quotes.
  mutating func append(isoDate seconds: Double) {
    let seconds = seconds + Date.timeIntervalBetween1970AndReferenceDate
    guard ISODate.hasText(seconds) else { return append(quoted: seconds.description) }
    append(UInt8(ascii: "\""))
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: ISODate.greatestLength) { text in
      let length = ISODate.write(seconds, to: text)
      append(contentsOf: UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: text[..<length])))
    }
    append(UInt8(ascii: "\""))
  }

  /// Appends a value as JSON. Dates are texts or seconds. Decimals, UUIDs and URIs are texts, and bytes are in Base64.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - dates: The format of dates.
  ///   - column: The name of the column, for the report of losses.
  ///   - losses: Records values that JSON cannot represent.
  mutating func append(json value: Value, dates: DateForm, column: String, losses: inout OutputLosses) {
    switch value {
    case .null: append(contentsOf: "null".utf8)
    case .bool(let flag): append(contentsOf: flag ? "true".utf8 : "false".utf8)
    case .int(let number): append(decimal: number)
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
