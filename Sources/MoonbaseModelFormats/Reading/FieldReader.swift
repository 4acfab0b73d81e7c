import MoonbaseModel
import MoonbasePlatform

/// What stands in one field of a file: the value of an XML attribute, or a node of a tree.
protocol FieldContent {
  /// What truth values are called in messages.
  static var flagWords: String { get }
  /// What a field may be called that holds an aspect; nothing where this form reads it in a way of its own.
  static func names<Owner>(of aspect: Aspect<Owner>) -> [String]
  /// Whether a field that is not taken is a mistake, for whose message the names that were asked for are kept. In such a form a
  /// flag that is not named is as in a new description; in the others it is as Core Data takes it.
  static var isStrict: Bool { get }

  var flag: Bool? { get }
  var text: String? { get }
  var integer: Int? { get }
  /// What stands there instead, in the words of a message.
  var shown: String { get }
  /// The line, where the field has one of its own.
  var line: Int? { get }
}

/// The fields of a table or an element, taken one by one. What was not taken is told at the end, not dropped in silence.
///
/// ```swift
/// var fields = FieldReader(context, line: line, fields: pairs)
/// try fields.read(into: &relationship)
/// for (name, _) in fields.left { warnings.append("\(name) is not understood") }
/// ```
struct FieldReader<Content: FieldContent> {
  let context: ReadingContext
  let line: Int?
  /// What stands there without a name: the list part of a Lua table.
  let list: [Content]
  /// What was not taken yet, in the order written.
  private(set) var left: [(name: String, content: Content)]
  /// The names that were asked for, for the hints of messages.
  private(set) var asked: [String] = []

  init(_ context: ReadingContext, line: Int?, list: [Content] = [], fields: [(name: String, content: Content)]) {
    self.context = context
    self.line = line
    self.list = list
    left = fields
  }

  /// What stands in a field, which counts as read.
  mutating func take(_ name: String) -> Content? { take([name])?.content }

  /// The first of several names that is there.
  private mutating func take(_ names: [String]) -> (name: String, content: Content)? {
    if Content.isStrict { asked += names }
    for name in names {
      if let index = left.firstIndex(where: { $0.name == name }) { return left.remove(at: index) }
    }
    return nil
  }

  /// Leaves out what tools keep for themselves.
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

  /// One of a few words, which may stand for something.
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

  /// Reads what a description says into a new one, as far as this form holds it as it is.
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
