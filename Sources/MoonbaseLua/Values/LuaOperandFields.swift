/// Finds the names of the fields that are the operands of an operator, if a line of the source is unambiguous.
///
/// A line is unambiguous if the operator occurs once in it and each operand is a variable, with fields, indexes and
/// calls, between tokens that bind weaker.
///
/// Used for messages only, such as "attempt to compare date (field 'born') with nil": a guess would be worse than no
/// name.
struct LuaOperandFields {
  /// The field on the left side, such as `born` in `a.born < b`.
  private(set) var left: String?
  /// The field on the right side.
  private(set) var right: String?

  private typealias Token = LuaLexer.Token

  /// Nil if the line is ambiguous or very long.
  init?(of name: LuaOperator, line: Int, in source: LuaSource) {
    guard let text = source.line(line), text.utf8.count < 1000 else { return nil }
    // An operand may begin on the previous line or end on the next.
    let before = source.line(line - 1) ?? "", after = source.line(line + 1) ?? ""
    guard before.utf8.count + after.utf8.count < 2000 else { return nil }
    let tokens = Self.tokens(before + "\n" + text + "\n" + after)
    let signs = Self.signs(of: name)
    let found = tokens.indices.filter { tokens[$0].line == 2 && signs.contains(tokens[$0].token) }
    guard found.count == 1, let at = found.first, !Self.reachesOver(tokens, signs: signs) else { return nil }
    let words = tokens.map(\.token)
    left = Self.field(endingBefore: at, in: words)
    right = Self.field(startingAfter: at, in: words)
    // Lua swaps the operands of ">" and calls "<".
    if words[at] == signs.last, signs.count == 2 { (left, right) = (right, left) }
  }

  /// The tokens of three lines, with their lines from 1 to 3.
  private static func tokens(_ text: String) -> [(token: Token, line: Int)] {
    var lexer = LuaLexer(Array(text.utf8))
    var tokens: [(token: Token, line: Int)] = []
    repeat { tokens.append(lexer.next()) } while tokens.last?.token != .end
    return tokens
  }

  /// Whether the previous line also has the operator and continues on this line. Lua reports such a comparison on its
  /// last line.
  private static func reachesOver(_ tokens: [(token: Token, line: Int)], signs: [Token]) -> Bool {
    let before = tokens.prefix { $0.line == 1 }.map(\.token)
    guard case .symbol = before.last, let last = before.last else { return false }
    return !closes(last) && before.contains(where: signs.contains)
  }

  /// The symbols of an operator. A comparison has two.
  private static func signs(of name: LuaOperator) -> [Token] {
    switch name {
    case .less: [symbol("<"), symbol(">")]
    case .lessOrEqual: [withEqual("<"), withEqual(">")]
    case .add: [symbol("+")]
    case .subtract: [symbol("-")]
    case .multiply: [symbol("*")]
    case .divide: [symbol("/")]
    default: []
    }
  }

  // MARK: Operands

  /// The last field of the operand before the operator. Nil for a plain variable.
  private static func field(endingBefore at: Int, in words: [Token]) -> String? {
    guard at >= 3, case .name(let field) = words[at - 1], words[at - 2] == symbol(".") else { return nil }
    var first = at - 1
    while isField(first, in: words) {
      guard let start = start(of: first - 2, in: words) else { return nil }
      first = start
    }
    return first > 0 && opens(words[first - 1]) ? field : nil
  }

  /// Whether a name follows a dot or a colon.
  private static func isField(_ at: Int, in words: [Token]) -> Bool {
    at >= 2 && (words[at - 1] == symbol(".") || words[at - 1] == symbol(":"))
  }

  /// The start of the name before indexes and arguments.
  private static func start(of end: Int, in words: [Token]) -> Int? {
    var at = end
    while at > 0, words[at] == symbol("]") || words[at] == symbol(")") {
      var depth = 0
      repeat {
        if isOpening(words[at]) { depth -= 1 } else if isClosing(words[at]) { depth += 1 }
        at -= 1
      } while depth > 0 && at >= 0
      if depth > 0 { return nil }
    }
    guard at >= 0, case .name(let name) = words[at], !LuaLexer.keywords.contains(name) else { return nil }
    return at
  }

  /// The last field of the operand after the operator. Nil if it ends with an index.
  private static func field(startingAfter sign: Int, in words: [Token]) -> String? {
    guard case .name(let name) = words[sign + 1], !LuaLexer.keywords.contains(name) else { return nil }
    var at = sign + 2
    var field: String?
    while at + 1 < words.count {
      if words[at] == symbol("."), case .name(let name) = words[at + 1] {
        (field, at) = (name, at + 2)
      } else if words[at] == symbol("["), let end = end(of: at, in: words) {
        (field, at) = (nil, end + 1)
      } else {
        break
      }
    }
    return closes(words[at]) ? field : nil
  }

  /// The place of the bracket that closes the one at `start`.
  private static func end(of start: Int, in words: [Token]) -> Int? {
    var depth = 0
    for at in start..<words.count {
      if isOpening(words[at]) { depth += 1 } else if isClosing(words[at]) { depth -= 1 }
      if depth == 0 { return at }
    }
    return nil
  }

  // MARK: Neighbours of an operand

  /// Whether a token ends the operand before it. A name does, because it begins the next statement.
  private static func closes(_ token: Token) -> Bool {
    switch token {
    case .name, .end: true
    default: [symbol(")"), symbol(","), symbol("}"), symbol("]"), symbol(";")].contains(token)
    }
  }

  /// Whether a token may precede an operand without binding a part of it.
  private static func opens(_ token: Token) -> Bool {
    switch token {
    case .name(let name): LuaLexer.keywords.contains(name) && name != "not"
    default: [symbol("("), symbol(","), symbol("{"), symbol("["), symbol(";"), symbol("=")].contains(token)
    }
  }

  /// An opening bracket of any kind.
  private static func isOpening(_ token: Token) -> Bool { [symbol("("), symbol("["), symbol("{")].contains(token) }
  /// A closing bracket of any kind.
  private static func isClosing(_ token: Token) -> Bool { [symbol(")"), symbol("]"), symbol("}")].contains(token) }

  /// The token of an ASCII character.
  private static func symbol(_ scalar: Unicode.Scalar) -> Token { .symbol(UInt8(ascii: scalar)) }
  /// The token of the character followed by `=`.
  private static func withEqual(_ scalar: Unicode.Scalar) -> Token { .symbol(LuaLexer.withEqual(UInt8(ascii: scalar))) }
}
