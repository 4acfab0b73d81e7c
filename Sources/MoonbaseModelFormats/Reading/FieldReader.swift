import MoonbaseModel

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

  mutating func text(_ name: String) throws(ModelError) -> String? { try text(take([name])) }

  mutating func flag(_ name: String) throws(ModelError) -> Bool? { try flag(take([name])) }

  mutating func integer(_ name: String) throws(ModelError) -> Int? { try integer(take([name])) }

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

  private func text(_ field: Field?) throws(ModelError) -> String? { try typed(field, expected: "a string", \.text) }

  private func flag(_ field: Field?) throws(ModelError) -> Bool? {
    try typed(field, expected: Content.flagWords, \.flag)
  }

  private func integer(_ field: Field?) throws(ModelError) -> Int? {
    try typed(field, expected: "an integer", \.integer)
  }

  private func typed<Result>(
    _ field: Field?, expected: String, _ read: (Content) -> Result?
  ) throws(ModelError) -> Result? {
    guard let (name, content) = field else { return nil }
    guard let result = read(content) else {
      throw context.error("\(name) is \(expected), not \(content.shown)", line: content.line ?? line)
    }
    return result
  }

  // MARK: Aspects

  /// Reads what a description says into a new one, as far as this form holds it as it is.
  mutating func read<Owner: Described>(into owner: inout Owner) throws(ModelError) {
    for aspect in Owner.aspects {
      let names = Content.names(of: aspect)
      if names.isEmpty { continue }
      switch aspect.field {
      case .flag(let path, let usual, let unnamed):
        let flag = try flag(take(names)) ?? (Content.isStrict ? usual : unnamed)
        if flag != usual { owner[keyPath: path] = flag }
      case .text(let path):
        if let text = try text(take(names)) { owner[keyPath: path] = text }
      case .number(let path):
        if let number = try integer(take(names)) { owner[keyPath: path] = number }
      case .limit(let path):
        if let number = try integer(take(names)) { owner[keyPath: path] = number }
      case .stated: break
      }
    }
  }
}
