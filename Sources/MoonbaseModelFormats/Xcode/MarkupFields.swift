import MoonbaseModel

/// The attributes of an XML element, read one by one. Unread attributes cause warnings.
typealias MarkupFields = FieldReader<MarkupText>

/// The value of an XML attribute.
struct MarkupText: FieldContent {
  static let flagWords = "YES or NO"

  static func names<Owner>(of aspect: Aspect<Owner>) -> [String] { aspect.xcode }

  static let isStrict = false

  let shown: String

  var text: String? { shown }

  /// `YES` or `NO`; `true` or `false` in older files.
  var flag: Bool? {
    switch shown.lowercased() {
    case "yes", "true", "1": true
    case "no", "false", "0": false
    default: nil
    }
  }

  var integer: Int? { Int(shown) }

  var line: Int? { nil }
}

extension FieldReader<MarkupText> {
  init(_ element: MarkupElement, context: ReadingContext) {
    self.init(
      context, line: element.line, fields: element.attributes.map { ($0.name, MarkupText(shown: $0.value)) })
  }

  mutating func value(_ name: String) -> String? { take(name)?.shown }

  mutating func required(_ name: String) throws(ModelError) -> String {
    guard let value = value(name) else { throw error("\(name) is missing") }
    return value
  }

  mutating func real(_ name: String) throws(ModelError) -> Double? {
    guard let text = value(name) else { return nil }
    guard let real = Double(text) else { throw error("\(name) is a number, not \(text)") }
    return real
  }

  /// A warning for each unread attribute.
  var warnings: [String] {
    left.map { warning("\($0.name)=\"\($0.content.shown)\" is not understood") }
  }

  func warning(_ message: String) -> String { "\(context.location(line)): \(context.subject): \(message)" }
}
