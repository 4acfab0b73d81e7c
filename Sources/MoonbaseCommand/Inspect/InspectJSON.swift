import MoonbaseBatch
import MoonbasePlatform

/// JSON for the page. The members of an object keep their order.
///
/// It is written directly as bytes, which is faster than `JSONEncoder` for tables with thousands of
/// cells. Literals of Swift can be used: `["id": "Person/1", "count": 3]`.
enum InspectJSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  case null
  case bool(Bool)
  case int(Int)
  case string(String)
  case array([InspectJSON])
  case object([(String, InspectJSON)])

  /// Creates a text.
  init(stringLiteral value: String) { self = .string(value) }
  /// Creates a whole number.
  init(integerLiteral value: Int) { self = .int(value) }
  /// Creates a Boolean.
  init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Creates an array.
  init(arrayLiteral elements: InspectJSON...) { self = .array(elements) }
  /// Creates an object with its members in the given order.
  init(dictionaryLiteral elements: (String, InspectJSON)...) { self = .object(elements) }

  /// A text, or null if there is none.
  static func text(_ text: String?) -> InspectJSON { text.map(InspectJSON.string) ?? .null }

  /// An array of texts.
  static func strings(_ texts: some Sequence<String>) -> InspectJSON { .array(texts.map(InspectJSON.string)) }

  /// The object with additional members.
  ///
  /// - Parameter members: The new members, which follow the others.
  /// - Returns: The object. All other values are returned unchanged.
  func adding(_ members: [(String, InspectJSON)]) -> InspectJSON {
    guard case .object(let own) = self else { return self }
    return .object(own + members)
  }

  /// The JSON in UTF-8.
  var data: Data {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return Data(bytes)
  }

  /// Appends the JSON of this value to `bytes`.
  private func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .bool(let flag): bytes += (flag ? "true" : "false").utf8
    case .int(let number): bytes += "\(number)".utf8
    case .string(let text): bytes.append(quoted: text)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        element.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(quoted: member.0)
        bytes.append(UInt8(ascii: ":"))
        member.1.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }
}
