import MoonbaseLua

/// What a piece of Lua does with an object, where it does no more than to set one attribute to an expression of the object's own values.
///
/// ```lua
/// object.name = object.name:upper()
/// if object.age then object.age = object.age + 1 end
/// ```
///
/// The expression is made of attributes, literals, operators and those functions of the standard library that depend on their arguments alone. So it
/// may be called with the values in place of the object, and as often as one likes. All else is not recognized, and is not guessed at.
struct ObjectAssignment {
  /// The attribute that is set.
  let attribute: String
  /// The attributes that are read.
  let inputs: [String]
  /// Lua that gets the inputs and returns what the attribute is to be.
  let text: String

  /// Of a piece of Lua that sees `object`.
  init?(body: String) {
    let tokens = Token.all(of: body)
    self.init(tokens[...], in: Array(body.utf8), object: "object")
  }

  /// Of a file that is `return function(object, context) ... end`.
  init?(file: String) {
    let tokens = Token.all(of: file)
    guard tokens.starts(with: ["return", "function", "("]), tokens.count > 7, tokens.last?.token == .name("end"),
      case .name(let object) = tokens[3].token
    else { return nil }
    var rest = tokens[4...].dropLast()
    if rest.first == ",", rest.count > 2 { rest = rest.dropFirst(2) }
    guard rest.first == ")" else { return nil }
    self.init(rest.dropFirst(), in: Array(file.utf8), object: object)
  }

  private init?(_ tokens: ArraySlice<Token>, in source: [UInt8], object: String) {
    var body = tokens
    var condition: ArraySlice<Token> = []
    if body.first == "if" {
      guard body.last == "end", let then = body.firstIndex(of: "then") else { return nil }
      condition = body[body.index(after: body.startIndex)..<then]
      body = body[body.index(after: then)...].dropLast()
      guard !condition.isEmpty else { return nil }
    }
    guard body.count > 4, case .name(let key) = body[body.startIndex + 2].token,
      body.starts(with: [Token(object), ".", Token(key), "="])
    else { return nil }
    var values = Values(object: object, source: source)
    guard let expression = values.text(of: body.dropFirst(4)) else { return nil }
    var lines = "return (\(expression)\n)"
    if !condition.isEmpty {
      guard let question = values.text(of: condition) else { return nil }
      lines = "if (\(question)\n) then \(lines) end return \(values.name(of: key))"
    }
    attribute = key
    // One that reads nothing gets what it sets: a function has at least one input.
    if values.inputs.isEmpty { _ = values.name(of: key) }
    inputs = values.inputs
    text = "local \(inputs.map(Values.variable).joined(separator: ", ")) = ... \(lines)"
  }
}

/// A token and where it stands.
private struct Token: Equatable, ExpressibleByStringLiteral {
  let token: LuaLexer.Token
  var range = 0..<0

  static func all(of text: String) -> [Token] {
    var lexer = LuaLexer(Array(text.utf8))
    var tokens: [Token] = []
    while true {
      let next = lexer.next().token
      if next == .end { return tokens }
      tokens.append(Token(next, lexer.start..<lexer.at))
    }
  }

  init(_ token: LuaLexer.Token, _ range: Range<Int>) { (self.token, self.range) = (token, range) }

  init(_ text: String) {
    let first = text.utf8.first ?? 0
    let isSymbol = text.utf8.count == 1 && !Character(UnicodeScalar(first)).isLetter && first != UInt8(ascii: "_")
    token = isSymbol ? .symbol(first) : .name(text)
  }

  init(stringLiteral text: String) { self.init(text) }

  static func == (one: Token, other: Token) -> Bool { one.token == other.token }
}

/// An expression with variables in place of the object's attributes.
private struct Values {
  private static let words: Set<String> = ["and", "or", "not", "nil", "true", "false"]
  private static let functions: Set<String> = ["tostring", "tonumber", "type"]
  private static let libraries: Set<String> = ["string", "math", "utf8"]
  /// What is another one with each call.
  private static let random: Set<String> = ["random", "randomseed"]

  let object: String
  let source: [UInt8]
  private(set) var inputs: [String] = []

  init(object: String, source: [UInt8]) { (self.object, self.source) = (object, source) }

  static func variable(_ attribute: String) -> String { "object_\(attribute)" }

  mutating func name(of attribute: String) -> String {
    if !inputs.contains(attribute) { inputs.append(attribute) }
    return Self.variable(attribute)
  }

  /// Nil for what is made of anything else.
  mutating func text(of tokens: ArraySlice<Token>) -> String? {
    let tokens = Array(tokens)
    var text: [UInt8] = []
    var index = 0
    while index < tokens.count {
      let token = tokens[index]
      if index > 0 { text += source[tokens[index - 1].range.upperBound..<token.range.lowerBound] }
      index += 1
      guard case .name(let name) = token.token else {
        if Self.areDots(tokens, at: index - 1, count: 3) { return nil }
        text += source[token.range]
        continue
      }
      let hasField = index + 1 < tokens.count && tokens[index] == "." && !Self.areDots(tokens, at: index, count: 2)
      if Self.isField(tokens, at: index - 1) {
        guard !Self.random.contains(name) else { return nil }
        text += source[token.range]
      } else if name == object {
        guard hasField, case .name(let attribute) = tokens[index + 1].token else { return nil }
        text += self.name(of: attribute).utf8
        index += 2
      } else {
        let isKnown = Self.words.contains(name) || Self.functions.contains(name)
        guard isKnown || Self.libraries.contains(name) && hasField else { return nil }
        text += source[token.range]
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Whether a name is one of a field or method: behind one dot, or a colon.
  private static func isField(_ tokens: [Token], at index: Int) -> Bool {
    guard index > 0 else { return false }
    return tokens[index - 1] == ":"
      || tokens[index - 1] == "." && (index < 2 || !areDots(tokens, at: index - 2, count: 2))
  }

  /// Whether there are so many dots without anything between them.
  private static func areDots(_ tokens: [Token], at index: Int, count: Int) -> Bool {
    guard index + count <= tokens.count else { return false }
    return tokens[index..<(index + count)].allSatisfy { $0 == "." }
      && tokens[index + count - 1].range.upperBound - tokens[index].range.lowerBound == count
  }
}
