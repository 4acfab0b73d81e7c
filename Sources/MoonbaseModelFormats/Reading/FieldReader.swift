import MoonbaseModel
import MoonbasePlatform

/// The content of a field in a file: the value of an XML attribute, or a node of a tree.
protocol FieldContent {
  /// The spellings of booleans, for messages.
  static var flagWords: String { get }
  /// The names of the field for an aspect; empty if the format has its own code for it.
  static func names<Owner>(of aspect: Aspect<Owner>) -> [String]
  /// Whether an unread field is an error, for which the requested names are recorded. In such a format, defaults are
  /// those of new descriptions; in others, those of Core Data.
  static var isStrict: Bool { get }

  var flag: Bool? { get }
  var text: String? { get }
  var integer: Int? { get }
  /// The content, for messages.
  var shown: String { get }
  /// The line; nil if the field has no line of its own.
  var line: Int? { get }
}

/// Reads the fields of a table or an element one by one. Unread fields are reported at the end instead of silently
/// dropped.
///
/// ```swift
/// var fields = FieldReader(context, line: line, fields: pairs)
/// try fields.read(into: &relationship)
/// for (name, _) in fields.left { warnings.append("\(name) is not understood") }
/// ```
struct FieldReader<Content: FieldContent> {
  let context: ReadingContext
  let line: Int?
  /// The contents without names: the list part of a Lua table.
  let list: [Content]
  /// The unread fields, in source order.
  private(set) var left: [(name: String, content: Content)]
  /// The requested names, for suggestions in messages.
  private(set) var asked: [String] = []

  init(_ context: ReadingContext, line: Int?, list: [Content] = [], fields: [(name: String, content: Content)]) {
    self.context = context
    self.line = line
    self.list = list
    left = fields
  }

  /// Reads a field and marks it as read.
  mutating func take(_ name: String) -> Content? { take([name])?.content }

  /// Reads the first existing field of several names.
  private mutating func take(_ names: [String]) -> (name: String, content: Content)? {
    if Content.isStrict { asked += names }
    for name in names {
      if let index = left.firstIndex(where: { $0.name == name }) { return left.remove(at: index) }
    }
    return nil
  }

  /// Skips fields that tools use for themselves.
  mutating func ignore(_ names: String...) { left.removeAll { names.contains($0.name) } }

  mutating func text(_ name: String) throws(ModelError) -> String? {
    guard let field = take([name]) else { return nil }
    return try text(field)
  }

  mutating func flag(_ name: String) throws(ModelError) -> Bool? {
    guard let field = take([name]) else { return nil }
    return try flag(field)
  }

  mutating func integer(_ name: String) throws(ModelError) -> Int? {
    guard let field = take([name]) else { return nil }
    return try integer(field)
  }

  /// Reads a keyword and converts it to a choice.
  mutating func choice<Choice>(
    _ name: String, of choices: [Choice], word: (Choice) -> String
  ) throws(ModelError) -> Choice? {
    guard let text = try text(name) else { return nil }
    if let choice = choices.first(where: { word($0) == text }) { return choice }
    let words = choices.map(word)
    throw error("\(name) is one of \(words.joined(separator: ", ")), not \(text)\(suggestion(for: text, among: words))")
  }

  func error(_ message: String) -> ModelError { context.error(message, line: line) }

  // MARK: Types

  private typealias Field = (name: String, content: Content)

  private func text(_ field: Field) throws(ModelError) -> String {
    guard let text = field.content.text else { throw unfit(field, expected: "a string") }
    return text
  }

  private func flag(_ field: Field) throws(ModelError) -> Bool {
    guard let flag = field.content.flag else { throw unfit(field, expected: Content.flagWords) }
    return flag
  }

  private func integer(_ field: Field) throws(ModelError) -> Int {
    guard let integer = field.content.integer else { throw unfit(field, expected: "an integer") }
    return integer
  }

  private func unfit(_ field: Field, expected: String) -> ModelError {
    context.error("\(field.name) is \(expected), not \(field.content.shown)", line: field.content.line ?? line)
  }

  // MARK: Aspects

  /// Reads the aspects of a description that this format represents directly.
  mutating func read<Owner: Described>(into owner: inout Owner) throws(ModelError) {
    for aspect in Owner.aspects {
      if let field = take(Content.names(of: aspect)) {
        try set(aspect, of: &owner, to: field)
      } else if !Content.isStrict {
        aspect.setUnnamed(in: &owner)
      }
    }
  }

  private func set<Owner>(_ aspect: Aspect<Owner>, of owner: inout Owner, to field: Field) throws(ModelError) {
    switch aspect.field {
    case .flag(let path, _, _): owner[keyPath: path] = try flag(field)
    case .text(let path): owner[keyPath: path] = try text(field)
    case .number(let path): owner[keyPath: path] = try integer(field)
    case .limit(let path): owner[keyPath: path] = try integer(field)
    case .stated: break
    }
  }
}
