import MoonbaseLua
import Testing

/// Sources that are refused before Lua's parser reads them.
@Suite struct ParserTests {
  @Test func aLongChainOfFieldsIsRefused() throws {
    let state = try LuaState()
    let chain = "\n-- a.b.c\nlocal s, t = 'a.b', [[a.b]]\nreturn a" + String(repeating: ".x[1]", count: 150)
    let error = try #require(throws: LuaError.self) { try state.load(chain, name: "t") }
    #expect(error.kind == .syntax)
    #expect(error.line == 4)
    let many = "local a = {} " + String(repeating: "a.x, a.y = a.z, 1.5 .. a.b ", count: 1000)
    _ = try state.load(
      many + String(repeating: "\na = '" + String(repeating: ".x", count: 300) + "'", count: 3), name: "t")
  }

  /// A source is refused for its parsing time only if it is far from ordinary code.
  @Test func longSourcesAreNotSlowOnes() throws {
    let state = try LuaState()
    for piece in [
      "f(a or b) ", "x = f(a or b) and c ", "if a or b then f(a and b) elseif c and d then g() else h() end ",
      "while a and b do f() end repeat until a or b ", "x = { a or b, c = d and e; f or g } ",
      "do local function f(a, b) return a and b or function() return a or b end end end ", "x = y == z or y ~= z ",
      "do local s = 'a or b and' --[[ or or or ]] end -- and and\n", "(f or g)(a or b) ;",
    ] {
      _ = try state.load("do " + String(repeating: piece, count: 3000) + " end", name: "long.lua")
    }
    let branches = String(repeating: "elseif x == 1 or x == 2 then f() ", count: 1500)
    _ = try state.load("if a then " + branches + "end", name: "branches.lua")
    let slow = "local x\nreturn a" + String(repeating: "\n or b", count: 3000)
    let error = try #require(throws: LuaError.self) { try state.load(slow, name: "slow.lua") }
    #expect(error.kind == .syntax)
    #expect(error.message == "too many 'and' and 'or' in one expression")
    #expect(error.line == 2003)
  }
}
