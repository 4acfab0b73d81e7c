import Testing

@testable import MoonbaseLua

/// The tokens of a Lua source.
@Suite struct LuaLexerTests {
  private func tokens(_ text: String) -> [(token: LuaLexer.Token, line: Int)] {
    var lexer = LuaLexer(Array(text.utf8))
    var all: [(token: LuaLexer.Token, line: Int)] = []
    while case let next = lexer.next(), next.token != .end { all.append(next) }
    return all
  }

  @Test func aNumberHasTheSignOfItsExponentAndMayBeginWithAPoint() {
    let minus = LuaLexer.Token.symbol(UInt8(ascii: "-"))
    #expect(
      tokens("1e-5 .5 0x1p+3 0xe-1").map(\.token) == [
        .number("1e-5"), .number(".5"), .number("0x1p+3"), .number("0xe"), minus, .number("1"),
      ])
    #expect(tokens("t.x..y").map(\.token).count == 6)
  }

  @Test func aTextGoesOnOverLinesBehindItsEscapeForSpace() {
    let all = tokens("'a\\z\n   b' x")
    #expect(all.count == 2 && all[1].token == .name("x") && all[1].line == 2)
  }
}
