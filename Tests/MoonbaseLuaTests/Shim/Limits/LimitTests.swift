import MoonbaseLua
import MoonbasePlatform
import Testing

/// A script cannot catch the end of its run, and the state remains usable.
@Suite struct LimitTests {
  @Test func limitsCannotBeSwallowed() throws {
    let state = try LuaState(limits: LuaLimits(instructions: 200_000))
    for code in [
      "while true do end", "while true do pcall(function() while true do end end) end",
      "while true do xpcall(function() while true do end end, function() while true do end end) end",
      "local co = coroutine.wrap(function() while true do end end) while true do pcall(co) end",
      "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
      "local t = setmetatable({}, {__close = function() while true do end end}) do local x <close> = t; while true do end end",
    ] {
      let error = try #require(throws: LuaError.self) { try state.load(code, name: "t")() }
      #expect(error.kind == .limit(.instructions), "\(code): \(error)")
      #expect(try state.load("return 1", name: "t")().first?.integerValue == 1)
    }
  }

  /// The work within one call of a library function is counted as it proceeds.
  @Test(arguments: [
    "local t = {} for i = 1, 2e4 do t[i] = 1e308 end return #string.format(('%99.99f'):rep(2e4), table.unpack(t))",
    "return #string.format('%q', ('\\1'):rep(2e6))",
    "return #('x'):rep(200):gsub('.', { x = ('y'):rep(1e6) })", "return #('x'):rep(200):gsub('.', ('y'):rep(1e6))",
    "return #('x'):rep(1e6):gsub('.*', ('%0'):rep(200))",
    "return #('x'):rep(200):gsub('.', function() return ('y'):rep(1e6) end)",
  ])
  func oneCallIsNoOneInstruction(_ code: String) throws {
    let state = try LuaState(limits: LuaLimits(instructions: 400_000))
    let error = try #require(throws: LuaError.self) { try state.load(code, name: "t")() }
    #expect(error.kind == .limit(.instructions), "\(error)")
  }

  /// Once the instructions are used up, the rest of a huge text is neither made nor written.
  @Test(arguments: [
    "string.rep('x', 1e8)", "string.rep('x', 5e7, ',')", "print(table.unpack(texts))", "io.write(table.unpack(texts))",
    "io.stdout:write(table.unpack(texts))",
  ])
  func aHugeTextIsCountedOnItsWay(_ call: String) throws {
    let state = try LuaState(limits: LuaLimits(instructions: 400_000))
    try state.openFiles(LuaFileAccess(readable: [], writable: [], variables: []))
    let written = Lock(0)
    state.output = LuaOutput { bytes, _ in written.withLock { $0 += bytes.count } }
    let code = "local texts, s = {}, ('x'):rep(1e6) for i = 1, 100 do texts[i] = s end pcall(function() \(call) end)"
    let error = try #require(throws: LuaError.self) { try state.load(code, name: "t")() }
    #expect(error.kind == .limit(.instructions), "\(error)")
    #expect(written.withLock { $0 } < 60_000_000)
    #expect(state.memoryPeak < 60_000_000)
  }

  @Test func aDeadlineEndsWhatWritesOnItsWay() throws {
    let state = try LuaState(limits: LuaLimits(deadline: .seconds(0.2)))
    try state.openFiles(LuaFileAccess(readable: [], writable: [], variables: []))
    let written = Lock(0)
    state.output = LuaOutput { _, _ in
      written.withLock { $0 += 1 }
      Thread.sleep(forTimeInterval: 0.02)
    }
    let code = "local texts, s = {}, ('x'):rep(1e6) for i = 1, 200 do texts[i] = s end io.write(table.unpack(texts))"
    let error = try #require(throws: LuaError.self) { try state.load(code, name: "t")() }
    #expect(error.kind == .limit(.deadline), "\(error)")
    #expect(written.withLock { $0 } < 100)
  }

  /// A completed text exists twice, in the buffer and as Lua's string.
  @Test func aDeadlineEndsStringRepOnItsWay() throws {
    let state = try LuaState(limits: LuaLimits(deadline: .seconds(0.02)))
    let error = try #require(throws: LuaError.self) { try state.load("return ('x'):rep(4e8)", name: "t")() }
    #expect(error.kind == .limit(.deadline), "\(error)")
    #expect(state.memoryPeak < 600_000_000)
  }

  @Test(arguments: [
    ("string.pack, 'c3000000000', 'x'", "resulting string too large"),
    ("os.date, ('%c'):rep(1e6)", "the format is too long"),
  ])
  func whatIsFarTooLongIsRefused(_ call: String, _ message: String) throws {
    let state = try LuaState()
    let results = try state.load("return pcall(\(call))", name: "t")()
    #expect(results.first?.isTrue == false)
    #expect(results.last?.textValue?.contains(message) == true)
  }

  @Test func theDeadlineEndsEverything() throws {
    let state = try LuaState(limits: LuaLimits(deadline: .seconds(0.05)))
    for code in [
      "while true do end", "while true do pcall(function() while true do end end) end",
      "while true do coroutine.wrap(function() while true do end end)() end",
    ] {
      let error = try #require(throws: LuaError.self) { try state.load(code, name: "t")() }
      #expect(error.kind == .limit(.deadline), "\(code): \(error)")
    }
  }

  @Test func memoryIsBounded() throws {
    let state = try LuaState(limits: LuaLimits(memory: 4 << 20))
    for code in [
      "local t = {} for i = 1, 1e9 do t[i] = {} end", "local s = 'x' while true do s = s .. s end",
      "return string.rep('x', 1e9)", "while true do pcall(string.rep, 'x', 1e8) end",
    ] {
      let error = try #require(throws: LuaError.self) { try state.load(code, name: "t")() }
      #expect(error.kind == .limit(.memory), "\(code): \(error)")
    }
    state.collectGarbage()
    #expect(state.memoryUsed < 1 << 20)
    #expect(
      try state.load("local n = 0 for i = 1, 100000 do local t = {i, i, i} n = n + #t end return n", name: "t")().first?
        .integerValue == 300_000)
  }

  @Test func outputIsBounded() throws {
    let state = try LuaState(limits: LuaLimits(outputSize: 1000))
    let collected = Collected()
    state.output = collected.sink
    for code in ["while true do print('x') end", "while true do pcall(print, ('y'):rep(100)) end"] {
      let error = try #require(throws: LuaError.self) { try state.load(code, name: "t")() }
      #expect(error.kind == .limit(.output))
    }
    #expect(collected.output.utf8.count <= 2000)
  }

  @Test func theCallDepthIsALimit() throws {
    let state = try LuaState(limits: LuaLimits(callDepth: 2000))
    let source = "local function f(n) return n == 0 and 0 or 1 + f(n - 1) end return f(...)"
    #expect(try state.load(source, name: "t").first(1000).integerValue == 1000)
    let error = try #require(throws: LuaError.self) {
      try state.load("pcall(function(...) \(source) end, ...)", name: "t")(50_000)
    }
    #expect(error.kind == .limit(.callDepth))
    #expect(error.code == "lua.limit.callDepth")
    #expect(try state.load("return 1", name: "t").first().integerValue == 1)
  }

  @Test func callsThatNestTooDeepAreErrors() throws {
    let state = try LuaState()
    for source in ["local function f() return 1 + f() end f()", "local function f() (\"x\"):gsub(\"x\", f) end f()"] {
      let error = try #require(throws: LuaError.self) { try state.load(source, name: "t")() }
      #expect(error.kind == .stack)
    }
  }
}
