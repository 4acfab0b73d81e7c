import MoonbaseModel
import MoonbasePlatform

/// The content of a field in a file: the value of an XML attribute, or a node of a tree.
///
/// The conforming types are `MarkupText` for Xcode's XML and `ModelTree` for Lua. `FieldReader` is
/// written against this protocol, so both formats share the reading of aspects.
protocol FieldContent {
  /// The spellings of booleans, for messages.
  static var flagWords: String { get }
  /// The names of the field for an aspect; empty if the format has its own code for it.
  static func names<Owner>(of aspect: Aspect<Owner>) -> [String]
  /// Whether an unread field is an error, for which the requested names are recorded. In such a format, defaults are
  /// those of new descriptions; in others, those of Core Data.
  static var isStrict: Bool { get }

  /// The boolean; nil for other contents.
  var flag: Bool? { get }
  /// The text; nil for other contents.
  var text: String? { get }
  /// The integer; nil for other contents.
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
///
/// A reader is a value that belongs to one element. Its errors are `.invalidModel` with file, line,
/// entity and property.
struct FieldReader<Content: FieldContent> {
  /// The place of the element, for errors.
  let context: ReadingContext
  /// The line of the element.
  let line: Int?
  /// The contents without names: the list part of a Lua table.
  let list: [Content]
  /// The unread fields, in source order.
  private(set) var left: [(name: String, content: Content)]
  /// The requested names, for suggestions in messages.
  private(set) var asked: [String] = []

  /// A reader of an element's fields, none of which is read.
  init(_ context: ReadingContext, line: Int?, list: [Content] = [], fields: [(name: String, content: Content)]) {
    self.context = context
    self.line = line
    self.list = list
    left = fields
  }

  /// Reads a field and marks it as read.
  ///
  /// Returns nil if there is no such field, or it was read before.
  mutating func read(_ name: String) -> Content? { read([name])?.content }

  /// Reads the first existing field of several names.
  ///
  /// The names are spellings of one setting, the current one first.
  private mutating func read(_ names: [String]) -> (name: String, content: Content)? {
    if Content.isStrict { asked += names }
    for name in names {
      if let index = left.firstIndex(where: { $0.name == name }) { return left.remove(at: index) }
    }
    return nil
  }

  /// Skips fields that tools use for themselves.
  mutating func ignore(_ names: String...) { left.removeAll { names.contains($0.name) } }

  /// Reads a text. Throws if the field is no text.
  mutating func text(_ name: String) throws(ModelError) -> String? {
    guard let field = read([name]) else { return nil }
    return try text(field)
  }

  /// Reads a boolean. Throws if the field is no boolean.
  mutating func flag(_ name: String) throws(ModelError) -> Bool? {
    guard let field = read([name]) else { return nil }
    return try flag(field)
  }

  /// Reads an integer. Throws if the field is no integer.
  mutating func integer(_ name: String) throws(ModelError) -> Int? {
    guard let field = read([name]) else { return nil }
    return try integer(field)
  }

  /// Reads a keyword and converts it to a choice.
  ///
  /// Throws with the possible words and a suggestion. `word` gives the word of a choice.
  mutating func choice<Choice>(
    _ name: String, of choices: [Choice], word: (Choice) -> String
  ) throws(ModelError) -> Choice? {
    guard let text = try text(name) else { return nil }
    if let choice = choices.first(where: { word($0) == text }) { return choice }
    let words = choices.map(word)
    throw error("\(name) is one of \(words.joined(separator: ", ")), not \(text)\(suggestion(for: text, among: words))")
  }

  /// An error at the element's line.
  func error(_ message: String) -> ModelError { context.error(message, line: line) }

  // MARK: Types

  /// A field that was read, with its name for errors.
  private typealias Field = (name: String, content: Content)

  /// The text of a field.
  private func text(_ field: Field) throws(ModelError) -> String {
    guard let text = field.content.text else { throw unfit(field, expected: "a string") }
    return text
  }

  /// The boolean of a field.
  private func flag(_ field: Field) throws(ModelError) -> Bool {
    guard let flag = field.content.flag else { throw unfit(field, expected: Content.flagWords) }
    return flag
  }

  /// The integer of a field.
  private func integer(_ field: Field) throws(ModelError) -> Int {
    guard let integer = field.content.integer else { throw unfit(field, expected: "an integer") }
    return integer
  }

  /// The error that a field has another type.
  private func unfit(_ field: Field, expected: String) -> ModelError {
    context.error("\(field.name) is \(expected), not \(field.content.shown)", line: field.content.line ?? line)
  }

  // MARK: Aspects

  /// Reads the aspects of a description that this format represents directly.
  ///
  /// A missing field leaves the default: in a strict format that of a new description, otherwise
  /// that of Core Data.
  mutating func read<Owner: Described>(into owner: inout Owner) throws(ModelError) {
    for aspect in Owner.aspects {
      if let field = read(Content.names(of: aspect)) {
        try set(aspect, of: &owner, to: field)
      } else if !Content.isStrict {
        aspect.setUnnamed(in: &owner)
      }
    }
  }

  /// Sets an aspect to the content of a field.
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
