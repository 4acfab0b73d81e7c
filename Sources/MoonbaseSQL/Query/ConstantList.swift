package import MoonbaseModel
import MoonbasePlatform

/// A list of constants as a single parameter, so that statements do not depend on the lengths of lists.
///
/// The list is bound as JSON. Integers and text are elements as they are. Values that JSON cannot hold exactly are
/// written in hexadecimal after a letter for their kind.
package enum ConstantList {
  /// The function that decodes an element that JSON cannot hold.
  package static let function = "moonbase_element"

  /// A SELECT of the list's elements.
  package static func select(_ values: [Value]) -> SQLFragment {
    let element = values.allSatisfy(isPlain) ? "value" : "\(function)(value)"
    return SQLFragment("SELECT \(element) FROM json_each(?)", values: [.list(values)])
  }

  /// The value of the parameter.
  package static func json(_ values: [Value]) -> String {
    let isPlain = values.allSatisfy(isPlain)
    return "[" + values.map { isPlain ? plain($0) : packed($0) }.joined(separator: ",") + "]"
  }

  private static func isPlain(_ value: Value) -> Bool {
    switch value {
    case .bool, .int, .objectID: true
    // SQLite ends a JSON string at its first NUL.
    case .string(let text): !text.utf8.contains(0)
    default: false
    }
  }

  private static func plain(_ value: Value) -> String {
    switch value {
    case .bool(let truth): truth ? "1" : "0"
    case .int(let number): number.description
    case .objectID(let id): id.key.description
    case .string(let text): quoted(text)
    default: "null"
    }
  }

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

  private static func packed(_ number: Double) -> String {
    "\"d\(withUnsafeBytes(of: number.bitPattern.bigEndian) { hexadecimal($0) })\""
  }

  private static let digits = Array("0123456789abcdef".utf8)

  private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
