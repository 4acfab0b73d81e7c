import MoonbaseLua
import Testing

/// The contents of an error, whichever languages it crosses.
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

  /// Counts the errors that exist.
  final class Tally {
    var alive = 0
    var most = 0
  }

  struct Counted: Error, @unchecked Sendable {  // used on the thread of its test only
    final class Presence {
      let tally: Tally
      init(_ tally: Tally) {
        self.tally = tally
        tally.alive += 1
        tally.most = max(tally.most, tally.alive)
      }
      deinit { tally.alive -= 1 }
    }
    let presence: Presence
    let number: Int64
    init(_ tally: Tally, number: Int64 = 0) {
      presence = Presence(tally)
      self.number = number
    }
  }

  func refusing(in preset: LuaPreset, _ tally: Tally) throws -> LuaState {
    let state = try LuaState(preset: preset, limits: .none)
    let things = LuaHostType<Tally>("thing")
    things.properties(
      ["name"], get: { tally, _, _ in throw Counted(tally) }, set: { tally, _, _ in throw Counted(tally) })
    try state.register(things)
    try state.setGlobal("thing", to: .object(LuaObject(tally, as: things)))
    try state.setGlobal("refuse", to: state.function { call in throw Counted(tally, number: try call.integer(0)) })
    return state
  }

  /// Values that Lua releases wait for the next call into Swift, and every such call may fail.
  @Test(arguments: [false, true], ["refuse(1)", "thing.name = 1", "return thing.name"])
  func caughtErrorsAreLetGoWhereEveryCallFails(_ isMapped: Bool, _ code: String) throws {
    let tally = Tally()
    let state = try refusing(in: .standard, tally)
    if isMapped { state.errorMapper = { _, state in try? .table(state.table(["code": "refused"])) } }
    _ = try state.load("for i = 1, 30000 do pcall(function() \(code) end) end", name: "t")()
    #expect(tally.most < 10_000)
  }

  /// A finalizer may run at any allocation of Lua, such as that of the error value of the failed call.
  @Test(arguments: [false, true]) func aFinalizerThatFailsChangesNoOtherError(_ isMapped: Bool) throws {
    let state = try refusing(in: .trusted, Tally())
    if isMapped {
      state.errorMapper = { error, state in
        (error as? Counted).flatMap { counted in try? .table(state.table(["message": .integer(counted.number)])) }
      }
    }
    let script = """
      local finalizer = { __gc = function() pcall(refuse, -1) end }
      local wrong = 0
      for i = 1, 20000 do
        setmetatable({}, finalizer)
        local ok, e = pcall(refuse, i)
        if not tostring(e.message):find(isMapped and "^" .. i .. "$" or "number: " .. i .. "%)") then wrong = wrong + 1 end
      end
      return wrong
      """
    try state.setGlobal("isMapped", to: .boolean(isMapped))
    #expect(try state.load(script, name: "t").first().integerValue == 0)
  }

  /// Swift errors cross every kind of call back into Swift.
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
