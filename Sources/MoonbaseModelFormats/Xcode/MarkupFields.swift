import MoonbaseModel

/// The attributes of an XML element, read one by one. What nobody asks for is reported, not dropped in silence.
struct MarkupFields {
  let context: TreeContext
  let line: Int
  private var left: [(name: String, value: String)]

  init(_ element: MarkupElement, _ context: TreeContext) {
    self.context = context
    line = element.line
    left = element.attributes
  }

  mutating func take(_ name: String) -> String? {
    guard let index = left.firstIndex(where: { $0.name == name }) else { return nil }
    return left.remove(at: index).value
  }

  /// Attributes that tools keep for themselves.
  mutating func ignore(_ names: String...) {
    left.removeAll { names.contains($0.name) }
  }

  mutating func required(_ name: String) throws(ModelError) -> String {
    guard let value = take(name) else { throw error("\(name) is missing") }
    return value
  }

  /// `YES` or `NO`, in older files `true` or `false`.
  mutating func bool(_ name: String) throws(ModelError) -> Bool? {
    guard let text = take(name) else { return nil }
    guard let bool = Self.bool(text) else { throw error("\(name) is YES or NO, not \(text)") }
    return bool
  }

  mutating func integer(_ name: String) throws(ModelError) -> Int? {
    guard let text = take(name) else { return nil }
    guard let integer = Int(text) else { throw error("\(name) is an integer, not \(text)") }
    return integer
  }

  mutating func real(_ name: String) throws(ModelError) -> Double? {
    guard let text = take(name) else { return nil }
    guard let real = Double(text) else { throw error("\(name) is a number, not \(text)") }
    return real
  }

  /// One of a few words.
  mutating func choice(_ name: String, _ words: String...) throws(ModelError) -> String? {
    guard let text = take(name) else { return nil }
    guard words.contains(text) else {
      throw error(
        "\(name) is one of \(words.joined(separator: ", ")), not \(text)\(suggestion(for: text, among: words))")
    }
    return text
  }

  static func bool(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "yes", "true", "1": true
    case "no", "false", "0": false
    default: nil
    }
  }

  /// One warning for each attribute that nobody asked for.
  var warnings: [String] {
    left.map { "\(context.location(line)): \(context.subject): \($0.name)=\"\($0.value)\" is not understood" }
  }

  func error(_ message: String) -> ModelError { context.error(message, line: line) }
}
