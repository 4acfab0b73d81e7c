import MoonbaseModel

/// The attributes of an XML element, read one by one. Unread attributes cause warnings.
typealias MarkupFields = FieldReader<MarkupText>

/// The value of an XML attribute.
///
/// An XML attribute is always text; its type is known only to the reader.
struct MarkupText: FieldContent {
  /// The spellings of booleans.
  static let flagWords = "YES or NO"

  /// The names of an aspect, current and former.
  static func names<Owner>(of aspect: Aspect<Owner>) -> [String] { aspect.xcode }

  /// Unread attributes are warnings.
  static let isStrict = false

  /// The text of the attribute.
  let shown: String

  /// The text.
  var text: String? { shown }

  /// `YES` or `NO`; `true` or `false` in older files.
  var flag: Bool? {
    switch shown.lowercased() {
    case "yes", "true", "1": true
    case "no", "false", "0": false
    default: nil
    }
  }

  /// The integer; nil for other texts.
  var integer: Int? { Int(shown) }

  /// No line of its own, because an attribute is reported at its element.
  var line: Int? { nil }
}

extension FieldReader<MarkupText> {
  /// A reader of an element's attributes.
  init(_ element: MarkupElement, context: ReadingContext) {
    self.init(
      context, line: element.line, fields: element.attributes.map { ($0.name, MarkupText(shown: $0.value)) })
  }

  /// Reads a text; nil if the attribute is missing.
  mutating func value(_ name: String) -> String? { read(name)?.shown }

  /// Reads a text. Throws `.invalidModel` if the attribute is missing.
  mutating func required(_ name: String) throws(ModelError) -> String {
    guard let value = value(name) else { throw error("\(name) is missing") }
    return value
  }

  /// Reads a number. Throws `.invalidModel` for other texts.
  mutating func real(_ name: String) throws(ModelError) -> Double? {
    guard let text = value(name) else { return nil }
    guard let real = Double(text) else { throw error("\(name) is a number, not \(text)") }
    return real
  }

  /// A warning for each unread attribute.
  var warnings: [String] {
    left.map { warning("\($0.name)=\"\($0.content.shown)\" is not understood") }
  }

  /// A warning with the location and the subject.
  func warning(_ message: String) -> String { "\(context.location(line)): \(context.subject): \(message)" }
}
