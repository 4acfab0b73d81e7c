import MoonbasePlatform

/// Keys and literals as the format language writes them.
///
/// `PredicatePrinter` and messages use it. The parser reads the result back as the same key or
/// value.
enum PredicateText {
  /// A key, escaped with `#` if it is a reserved word or no plain name.
  static func key(_ key: String) -> String {
    if key.hasPrefix("@") { return key }
    guard let first = key.utf8.first, PredicateLexer.isNameStart(first), key.utf8.allSatisfy(PredicateLexer.isName),
      key.utf8.allSatisfy({ $0 < 0x80 }) || key.unicodeScalars.allSatisfy(isLetter)
    else { return "#" + quoted(key) }
    return key.utf8.count <= 15 && PredicateKeyword.reserved.contains(key.uppercased()) ? "#" + key : key
  }

  /// Whether a character counts as a letter in keys.
  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII || scalar.properties.isAlphabetic
  }

  /// A text in quotes, with escapes for control characters.
  static func quoted(_ text: String) -> String {
    text.quoted { "\\u" + String(String(0x10000 + Int($0.value), radix: 16).dropFirst()) }
  }

  /// A value. Types without a literal are written as CAST.
  static func literal(_ value: Value) -> String {
    switch value {
    case .null: "NULL"
    case .bool(let value): value ? "TRUE" : "FALSE"
    case .int(let value): String(value)
    case .double(let value): value.isFinite ? value.description : cast(value.description, to: .number)
    case .string(let text): quoted(text)
    case .date(let date): date.literal
    case .decimal(let value): cast(value.description, to: .decimal)
    case .data(let data): cast(data.base64EncodedString(), to: .data)
    case .uuid(let uuid): cast(uuid.uuidString, to: .uuid)
    case .uri(let url): cast(url.absoluteString, to: .uri)
    case .objectID(let id): cast(id.uriRepresentation, to: .objectID)
    case .list, .map, .object: "<\(value.typeDescription)>"
    }
  }

  /// A cast of a quoted text to a type.
  private static func cast(_ text: String, to type: CastType) -> String {
    "CAST(\(quoted(text)), \"\(type.rawValue)\")"
  }
}

extension Date {
  /// A date in Core Data's form, which keeps every bit.
  fileprivate var literal: String { "CAST(\(timeIntervalSinceReferenceDate.description), \"NSDate\")" }
}
