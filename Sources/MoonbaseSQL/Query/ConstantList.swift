package import MoonbaseModel
import MoonbasePlatform

/// A list of constants as a single parameter, so that statements do not depend on the lengths of lists.
///
/// The list is bound as JSON. Integers and text are elements as they are. Values that JSON cannot hold exactly are
/// written in hexadecimal after a letter for their kind.
///
/// For example, `[1, 2]` is bound as `[1,2]`, the double 0.5 as `["d3fe0000000000000"]`, and the bytes `ff` as
/// `["bff"]`. All elements of a list have the same form.
package enum ConstantList {
  /// The function that decodes an element that JSON cannot hold. The store registers it with the connection.
  package static let function = "moonbase_element"

  /// A SELECT of the list's elements. With plain values the function is not called.
  package static func select(_ values: [Value]) -> SQLFragment {
    let element = values.allSatisfy(isPlain) ? "value" : "\(function)(value)"
    return SQLFragment("SELECT \(element) FROM json_each(?)", values: [.list(values)])
  }

  /// The value of the parameter. The caller binds this text where a parameter has the value `.list`.
  package static func json(_ values: [Value]) -> String {
    let isPlain = values.allSatisfy(isPlain)
    return "[" + values.map { isPlain ? plain($0) : packed($0) }.joined(separator: ",") + "]"
  }

  /// Whether JSON holds the value exactly. Doubles are packed, since a decimal numeral could round them.
  private static func isPlain(_ value: Value) -> Bool {
    switch value {
    case .bool, .int, .objectID: true
    // SQLite ends a JSON string at its first NUL.
    case .string(let text): !text.utf8.contains(0)
    default: false
    }
  }

  /// A plain value as JSON. Booleans are 0 and 1, as in columns.
  private static func plain(_ value: Value) -> String {
    switch value {
    case .bool(let truth): truth ? "1" : "0"
    case .int(let number): number.description
    case .objectID(let id): id.key.description
    case .string(let text): quoted(text)
    default: "null"
    }
  }

  /// A JSON string, with control characters escaped.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { result.unicodeScalars.append("\\") }
      if scalar.value < 0x20 {
        result += "\\u00" + hexadecimal([UInt8(scalar.value)])
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// A value with a letter for its kind: `d` for a double, `t` for text, `b` for bytes.
  private static func packed(_ value: Value) -> String {
    switch value {
    case .double(let number) where number.isNaN: "null"
    case .double(let number): packed(number)
    case .date(let date): packed(date.timeIntervalSinceReferenceDate)
    case .string(let text): "\"t\(hexadecimal(text.utf8))\""
    case .uri(let uri): "\"t\(hexadecimal(uri.absoluteString.utf8))\""
    case .data(let data): "\"b\(hexadecimal(data))\""
    case .uuid(let uuid): "\"b\(withUnsafeBytes(of: uuid.uuid) { hexadecimal($0) })\""
    default: plain(value)
    }
  }

  /// The 16 hexadecimal digits of the bits.
  private static func packed(_ number: Double) -> String {
    "\"d\(withUnsafeBytes(of: number.bitPattern.bigEndian) { hexadecimal($0) })\""
  }

  private static let digits = Array("0123456789abcdef".utf8)

  private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
