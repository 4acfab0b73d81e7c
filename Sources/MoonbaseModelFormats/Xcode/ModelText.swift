import MoonbaseModel
import MoonbasePlatform

/// Values as text in an Xcode model: locale-independent numbers, `YES` and `NO`.
///
/// Dates are numbers of seconds since 2001 in attributes of their own, such as
/// `defaultDateTimeInterval`.
enum ModelText {
  /// The value of a text; `.some(nil)` if the text does not fit the type, nil if the type has no text form.
  ///
  /// The two levels of optionality let a reader distinguish a wrong text from a setting without
  /// meaning.
  static func value(_ text: String, of type: AttributeType) -> Value?? {
    switch type {
    case .integer16, .integer32, .integer64: .some(integer(text))
    case .double, .float: .some(Double(text).map(Value.double))
    case .decimal: .some(Decimal(literal: text).map(Value.decimal))
    case .boolean: .some(MarkupText(shown: text).flag.map(Value.bool))
    case .string: .some(.string(text))
    case .uuid: .some(UUID(literal: text).map(Value.uuid))
    case .uri: .some(URL(string: text).map(Value.uri))
    case .date: .some(Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) })
    case .undefined, .binaryData, .transformable, .objectID, .composite: .none
    }
  }

  /// The text of a value, as `value(_:of:)` reads it; nil if it has none.
  ///
  /// Dates and binary data have no text in this form.
  static func text(_ value: Value) -> String? {
    switch value {
    case .int(let integer): "\(integer)"
    case .double(let double): "\(double)"
    case .decimal(let decimal): "\(decimal)"
    case .bool(let bool): bool ? "YES" : "NO"
    case .string(let string): string
    case .uuid(let uuid): uuid.uuidString
    case .uri(let uri): uri.absoluteString
    default: nil
    }
  }

  /// Xcode writes `0.0` for some integer attributes whose type was changed, and bounds that are no integers.
  ///
  /// Fractions become doubles, so that the resolver can report them.
  private static func integer(_ text: String) -> Value? {
    if let integer = Int64(text) { return .int(integer) }
    return Double(text).map { number in Int64(exactly: number).map(Value.int) ?? .double(number) }
  }
}
