/// Only used after the parser gave up.
extension LuaSource {
  /// The line with the deepest nesting of brackets, blocks and operators; nil without nesting. Lua's own message names
  /// no line.
  var deepestLine: Int? {
    var lexer = LuaLexer(bytes)
    var nesting = LuaNesting()
    while true {
      let (token, line) = lexer.next()
      if token == .end { return nesting.deepestLine }
      nesting.process(token, line: line)
    }
  }
}

/// Estimates the parser's depth within a source, precise enough to name a line.
///
/// Takes the tokens of a source in order.
private struct LuaNesting {
  /// The open brackets and blocks.
  private var depth = 0
  /// Consecutive prefix operators, which wait for their operand.
  private var prefixes = 0
  /// The greatest depth so far.
  private var deepest = 0
  /// The line of the greatest depth.
  private(set) var deepestLine: Int?

  /// Blocks begin with `then` and end with `elseif` too, so a chain of conditions stays at one level.
  mutating func process(_ token: LuaLexer.Token, line: Int) {
    let isPrefix = token == .name("not") || Self.prefixes.contains(token)
    prefixes = isPrefix ? prefixes + 1 : 0
    if Self.openers.contains(token) { depth += 1 }
    if Self.closers.contains(token) { depth -= 1 }
    if depth + prefixes > deepest {
      deepest = depth + prefixes
      deepestLine = line
    }
  }

  /// The prefix operators without `not`.
  private static let prefixes = ["-", "#", "~"].map(symbol)
  /// The tokens that begin a level.
  private static let openers =
    ["(", "{", "["].map(symbol) + ["function", "do", "then", "repeat"].map(LuaLexer.Token.name)
  /// The tokens that end a level.
  private static let closers =
    [")", "}", "]"].map(symbol) + ["end", "until", "elseif"].map(LuaLexer.Token.name)

  /// The token of an ASCII character.
  private static func symbol(_ scalar: Unicode.Scalar) -> LuaLexer.Token { .symbol(UInt8(ascii: scalar)) }
}
