extension LuaSource {
  /// The line with the deepest nesting of brackets, blocks and operators; nil without nesting.
  var deepestLine: Int? {
    var lexer = LuaLexer(bytes)
    var nesting = LuaNesting()
    while true {
      let (token, line) = lexer.next()
      if token == .end { return nesting.deepestLine }
      nesting.take(token, line: line)
    }
  }
}

/// Estimates the parser's depth within a source, precise enough to name a line.
private struct LuaNesting {
  private var depth = 0
  /// Consecutive prefix operators, which wait for their operand.
  private var prefixes = 0
  private var deepest = 0
  private(set) var deepestLine: Int?

  mutating func take(_ token: LuaLexer.Token, line: Int) {
    let isPrefix = token == .name("not") || Self.prefixes.contains(token)
    prefixes = isPrefix ? prefixes + 1 : 0
    if Self.openers.contains(token) { depth += 1 }
    if Self.closers.contains(token) { depth -= 1 }
    if depth + prefixes > deepest {
      deepest = depth + prefixes
      deepestLine = line
    }
  }

  private static let prefixes = ["-", "#", "~"].map(symbol)
  private static let openers =
    ["(", "{", "["].map(symbol) + ["function", "do", "then", "repeat"].map(LuaLexer.Token.name)
  private static let closers =
    [")", "}", "]"].map(symbol) + ["end", "until", "elseif"].map(LuaLexer.Token.name)

  private static func symbol(_ scalar: Unicode.Scalar) -> LuaLexer.Token { .symbol(UInt8(ascii: scalar)) }
}
