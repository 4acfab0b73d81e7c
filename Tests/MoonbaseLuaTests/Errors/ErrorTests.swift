import MoonbaseLua
import Testing

/// What an error holds, whichever languages it crosses.
@Suite struct ErrorTests {
  struct Refused: Error, Equatable { var number: Int }

  @Test func aSyntaxErrorNamesItsLine() throws {
    let state = try LuaState()
    let error = try #require(throws: LuaError.self) { try state.load("x = 1\ny = = 2", name: "bad.lua") }
    #expect(error.kind == .syntax)
    #expect(error.script == "bad.lua")
    #expect(error.line == 2)
    #expect(error.code == "lua.syntax")
  }

  @Test func aRuntimeErrorHasATraceback() throws {
    let state = try LuaState()
    let source = "local function inner() error('boom') end\nlocal function outer() inner() end\nouter()\n"
    let error = try #require(throws: LuaError.self) { try state.load(source, name: "deep.lua")() }
    #expect(error.message == "boom")
    #expect(error.line == 1)
    #expect(error.traceback.compactMap(\.line) == [1, 2, 3])
    #expect(error.description == "deep.lua:1: boom")
  }

  @Test func errorValuesKeepTheirType() throws {
    let state = try LuaState()
    let error = try #require(throws: LuaError.self) { try state.load("error({ code = 7 })", name: "t")() }
    let table = try #require(error.value(in: state)?.tableValue)
    #expect(try table.get("code").integerValue == 7)
    #expect(try error.value(in: LuaState()) == nil)
  }

  @Test func aSwiftErrorComesBackAsItself() throws {
    let state = try LuaState()
    try state.setGlobal("refuse", to: state.function { _ in throw Refused(number: 3) })
    let error = try #require(throws: LuaError.self) { try state.load("refuse()", name: "t")() }
    #expect(error.underlying as? Refused == Refused(number: 3))
    #expect(error.kind == .host)
    let seen = try state.load("local ok, e = pcall(refuse) return ok, tostring(e), e.message", name: "t.lua")()
    #expect(seen[0].booleanValue == false)
    #expect(seen[2].textValue == "Refused(number: 3)")
    let again = try #require(throws: LuaError.self) {
      try state.load("local ok, e = pcall(refuse) error(e)", name: "t")()
    }
    #expect(again.underlying as? Refused == Refused(number: 3))
  }

  @Test func aSwiftErrorMayBecomeATable() throws {
    let state = try LuaState()
    state.errorMapper = { error, state in
      (error as? Refused).flatMap { refused in
        try? .table(state.table(["code": .integer(Int64(refused.number))]))
      }
    }
    try state.setGlobal("refuse", to: state.function { _ in throw Refused(number: 3) })
    let seen = try state.load("local ok, e = pcall(refuse) return e.code", name: "t")()
    #expect(seen.first?.integerValue == 3)
    let error = try #require(throws: LuaError.self) { try state.load("refuse()", name: "t")() }
    #expect(error.underlying as? Refused == Refused(number: 3))
  }

  /// Errors of Swift cross every kind of call back into Swift.
  @Test func errorsCrossCallsWithinCalls() throws {
    struct Refusal: Error {}
    let state = try LuaState()
    try state.setGlobal("refuse", to: state.function { _ in throw Refusal() })
    try state.setGlobal("call", to: state.function { call in _ = try call.function(0).call([]) })
    let other = try LuaState()
    try other.setGlobal("refuse", to: other.function { _ in throw Refusal() })
    try state.setGlobal(
      "elsewhere",
      to: state.function { call in try other.run(onBehalfOf: call.state) { _ = try other.load("refuse()", name: "o")() }
      })
    for code in [
      "refuse()", "call(refuse)", "call(function() call(refuse) end)", "coroutine.wrap(refuse)()",
      "table.sort({ 1, 2 }, refuse)", "('x'):gsub('x', refuse)", "elsewhere()",
      "setmetatable({}, { __index = refuse }).x = nil refuse()",
      "local x <close> = setmetatable({}, { __close = refuse })", "for _ in refuse do end", "load(refuse)()",
      "return setmetatable({}, { __index = refuse }).x", "xpcall(error, refuse) refuse()",
    ] {
      let error = try #require(throws: LuaError.self, "\(code)") { try state.load(code, name: "t")() }
      #expect(error.underlying is Refusal, "\(code): \(error)")
      #expect(error.kind == .host, "\(code): \(error.kind)")
    }
  }
}
