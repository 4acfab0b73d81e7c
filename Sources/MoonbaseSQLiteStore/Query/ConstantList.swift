import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// A list of constants as one parameter, so that statements do not differ by the lengths of lists.
///
/// It is bound as JSON. Integers and text are elements as they are; what JSON cannot hold exactly is written in hexadecimal
/// behind a letter for its kind.
enum ConstantList {
  private static let function = "moonbase_element"

  /// A SELECT of the list's elements.
  static func select(_ values: [Value]) -> SQLFragment {
    let element = values.allSatisfy(isPlain) ? "value" : "\(function)(value)"
    return SQLFragment("SELECT \(element) FROM json_each(?)", values: [.list(values)])
  }

  /// The parameter.
  static func json(_ values: [Value]) -> String {
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

  // MARK: In SQL

  /// Makes the function known that unpacks elements.
  static func register(on connection: Connection) throws {
    try connection.register(function: function, arguments: 1, traits: [.deterministic, .directOnly]) { call in
      switch call.storage(0) {
      case .null: call.setNull()
      case .text: unpack(call)
      default: call.set(call.integer(0))
      }
    }
  }

  private static func unpack(_ call: borrowing FunctionCall) {
    let (kind, bytes) = call.withText(0) { text in
      (
        text.first,
        text.count > 1 ? stride(from: 1, to: text.count - 1, by: 2).map { value(text[$0], text[$0 + 1]) } : []
      )
    }
    switch kind {
    case UInt8(ascii: "d"):
      call.set(Double(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
    case UInt8(ascii: "t"): call.set(String(decoding: bytes, as: UTF8.self))
    default: call.set(Data(bytes))
    }
  }

  private static func value(_ high: UInt8, _ low: UInt8) -> UInt8 { nibble(high) << 4 | nibble(low) }

  private static func nibble(_ digit: UInt8) -> UInt8 { digit < 0x3a ? digit & 15 : digit & 15 + 9 }
}
