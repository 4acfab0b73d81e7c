import MoonbaseLua
import MoonbasePlatform
import Testing

@Suite struct CoreTests {
  @Test func runsAChunkWithArgumentsAndResults() throws {
    let state = try LuaState()
    let results = try state.load("local a, b = ... return a + b, 'x' .. a, nil, {1}", name: "t.lua")(1, 2)
    #expect(results.count == 4)
    #expect(results[0].integerValue == 3)
    #expect(results[1].textValue == "x1")
    #expect(!results[2].isPresent)
    #expect(try results[3].tableValue?.get(1).integerValue == 1)
  }

  @Test func globalsOfOneScriptAreNotAnothers() throws {
    let state = try LuaState()
    _ = try state.load("x = 1; string = nil; print = nil", name: "a.lua")()
    let seen = try state.load("return x, string, print", name: "b.lua")()
    #expect(!seen[0].isPresent)
    #expect(seen[1].tableValue != nil)
    #expect(seen[2].functionValue != nil)
  }

  @Test func librariesAreFrozen() throws {
    let state = try LuaState()
    for code in [
      "string.rep = nil", "rawset(string, 'rep', 1)", "getmetatable('').__index = {}", "setmetatable(string, nil)",
      "table.insert(string, 1)", "local _ENV = math; floor = 1",
    ] {
      #expect(throws: LuaError.self, "\(code)") { try state.load(code, name: "t")() }
    }
    #expect(try state.load("return ('ab'):rep(2), string.rep('a', 2)", name: "t")().first?.textValue == "abab")
  }

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

  @Test func hostFunctionsGetTypedArguments() throws {
    let state = try LuaState()
    try state.setGlobal(
      "resize",
      state.function { call in
        call.return(try call.text(0))
        call.return(try call.number(1) * 2)
      })
    let results = try state.load("return resize('a', 2.5)", name: "t")()
    #expect(results.map(\.typeName) == ["string", "number"])
    let error = try #require(throws: LuaError.self) { try state.load("resize('a')", name: "t.lua")() }
    #expect(error.description == "t.lua:1: bad argument #2 to 'resize' (number expected, got no value)")
  }

  struct Refused: Error, Equatable { var number: Int }

  @Test func aSwiftErrorComesBackAsItself() throws {
    let state = try LuaState()
    try state.setGlobal("refuse", state.function { _ in throw Refused(number: 3) })
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
    try state.setGlobal("refuse", state.function { _ in throw Refused(number: 3) })
    let seen = try state.load("local ok, e = pcall(refuse) return e.code", name: "t")()
    #expect(seen.first?.integerValue == 3)
    let error = try #require(throws: LuaError.self) { try state.load("refuse()", name: "t")() }
    #expect(error.underlying as? Refused == Refused(number: 3))
  }

  final class Point {
    var x: Double
    var y: Double
    init(_ x: Double, _ y: Double) {
      self.x = x
      self.y = y
    }
  }

  func pointType() -> LuaHostType<Point> {
    let type = LuaHostType<Point>("Point")
    type.properties(
      ["x", "y"], get: { point, slot, call in call.return(slot == 0 ? point.x : point.y) },
      set: { point, slot, call in
        let value = try call.number(0)
        if slot == 0 { point.x = value } else { point.y = value }
      })
    type.method("moved") { [unowned type] point, call in
      try call.return(Point(point.x + call.number(0), point.y + call.number(1)), as: type)
    }
    type.operator(.equal) { call in
      let first: Point = try call.object(0)
      let second: Point = try call.object(1)
      call.return(first.x == second.x && first.y == second.y)
    }
    type.operator(.text) { call in
      let point: Point = try call.object(0)
      call.return("(\(point.x), \(point.y))")
    }
    return type
  }

  @Test func hostObjectsHavePropertiesMethodsAndOperators() throws {
    let state = try LuaState()
    let type = pointType()
    try state.register(type)
    let point = Point(1, 2)
    let environment = try state.environment([
      "p": .object(LuaObject(point, as: type)), "q": .object(LuaObject(Point(1, 2), as: type)),
    ])
    let source = """
      p.x = p.x + 10
      local m = p:moved(1, 1)
      return p.x, m.y, p == q, tostring(m), m == m, ({[p] = 1})[p]
      """
    let results = try state.load(source, name: "t", in: environment)()
    #expect(point.x == 11)
    #expect(results[0].numberValue == 11)
    #expect(results[1].numberValue == 3)
    #expect(results[2].booleanValue == false)
    #expect(results[3].textValue == "(12.0, 3.0)")
    #expect(results[5].integerValue == 1)
    for (code, message) in [
      ("return p.z", "Point has no 'z'"), ("p.z = 1", "Point has no 'z'"), ("p.x = 'a'", "number expected, got string"),
      ("p.moved()", "Point expected, got no value"),
      ("p:moved(1)", "bad argument #2 to 'moved' (number expected, got no value)"),
    ] {
      let error = try #require(throws: LuaError.self) { try state.load(code, name: "t", in: environment)() }
      #expect(error.message.contains(message), "\(error)")
    }
  }

  @Test func sameObjectIsSameHandle() throws {
    let state = try LuaState()
    let type = pointType()
    try state.register(type)
    let point = Point(0, 0)
    try state.setGlobal("get", state.function { call in try call.return(point, as: type) })
    #expect(
      try state.load("local t = {} t[get()] = 1 return rawequal(get(), get()), t[get()]", name: "t")()[1].integerValue
        == 1)
  }

  @Test func aScopedHandleDiesWithItsScope() throws {
    let state = try LuaState()
    let type = pointType()
    try state.register(type)
    let chunk = try state.load(
      "local f = function(p) kept = p return p.x end return f, function() return kept.x end", name: "t")()
    let use = try #require(chunk[0].functionValue)
    let late = try #require(chunk[1].functionValue)
    let call = LuaFastCall(use, parameters: 1)
    try state.withScope {
      let x = try call.value { try $0.set(0, object: Point(4, 0), as: type, scoped: true) }
      #expect(x.numberValue == 4)
    }
    let error = try #require(throws: LuaError.self) { try late() }
    #expect(error.message == "Point used outside of its callback")
  }

  @Test func hostObjectsAreReleased() throws {
    weak var seen: Point?
    do {
      let state = try LuaState()
      let type = pointType()
      try state.register(type)
      do {
        let point = Point(1, 1)
        seen = point
        _ = try state.load("local p = ... p = nil", name: "t")(.object(LuaObject(point, as: type)))
      }
      #expect(seen != nil)
      state.collectGarbage()
      #expect(seen == nil)
      let point = Point(1, 1)
      seen = point
      try state.setGlobal("p", .object(LuaObject(point, as: type)))
    }
    #expect(seen == nil)
  }

  @Test func fastCallsTakeScalars() throws {
    let state = try LuaState()
    let function = try #require(
      try state.load("return function(a, b, c) return a * b + (c and #c or 0) end", name: "t")().first?.functionValue)
    let call = LuaFastCall(function, parameters: 3)
    for i in 0..<100 {
      let result = try call.run {
        $0.set(0, integer: Int64(i))
        $0.set(1, integer: 2)
        if i % 2 == 0 { $0.set(2, string: "abc") }
      } reading: {
        $0.integer
      }
      #expect(result == Int64(i * 2 + (i % 2 == 0 ? 3 : 0)))
    }
  }

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

  @Test func theDeadlineEndsEverything() throws {
    let state = try LuaState(limits: LuaLimits(deadline: 0.05))
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

  @Test func exitEndsTheRunNotTheProcess() throws {
    let state = try LuaState()
    let error = try #require(throws: LuaError.self) { try state.load("pcall(os.exit, 7) print('no')", name: "t")() }
    #expect(error.kind.exitStatus == 7)
  }

  @Test func anotherStateRunsOnTheBudget() throws {
    let outer = try LuaState(limits: LuaLimits(instructions: 300_000))
    let inner = try LuaState()
    let spin = try inner.load("for i = 1, 20000 do end", name: "inner")
    try outer.setGlobal(
      "spin",
      outer.function { call in
        try inner.run(onBehalfOf: call.state) { _ = try spin() }
      })
    _ = try outer.load("for i = 1, 5 do spin() end", name: "outer")()
    let error = try #require(throws: LuaError.self) { try outer.load("while true do spin() end", name: "outer")() }
    #expect(error.kind == .limit(.instructions))
    #expect(inner.limits.instructions == nil)
  }

  @Test func requireFindsModulesAndRefusesPaths() throws {
    let state = try LuaState()
    state.modules.add("a.b", source: LuaSource("return { n = 1 }", name: "b.lua"))
    state.modules.add("loop", source: LuaSource("return require 'loop'", name: "loop.lua"))
    #expect(
      try state.load("return require('a.b').n, require('a.b') == require 'a.b'", name: "t")()[1].booleanValue == true)
    for code in ["require 'a.b'.n = 2", "require '../x'", "require '/etc/passwd'", "require 'io'", "require 'loop'"] {
      #expect(throws: LuaError.self, "\(code)") { try state.load(code, name: "t")() }
    }
  }

  @Test func interruptEndsARun() throws {
    let state = try LuaState()
    let interrupter = state.interrupter
    try state.setGlobal(
      "ready",
      state.function { _ in
        Thread.detachNewThread { interrupter.interrupt() }
      })
    let error = try #require(throws: LuaError.self) { try state.load("ready() while true do end", name: "t")() }
    #expect(error.kind == .interrupted)
  }

  @Test func coroutinesResumeFromSwift() throws {
    let state = try LuaState()
    let function = try #require(
      try state.load("return function(a) local b = coroutine.yield(a + 1) error('end ' .. b) end", name: "t")().first?
        .functionValue)
    let thread = try function.makeThread()
    #expect(try thread.resume([1]).first?.integerValue == 2)
    #expect(try thread.status == .suspended)
    let error = try #require(throws: LuaError.self) { try thread.resume([5]) }
    #expect(error.message == "end 5")
    #expect(try thread.status == .dead)
  }

  /// Found by fuzzing.
  @Test func anObjectOutlivesItsState() throws {
    final class Thing {}
    let type = LuaHostType<Thing>("Thing")
    var first: LuaState? = try LuaState()
    try first?.register(type)
    let value = LuaValue.object(LuaObject(Thing(), as: type))
    first = nil
    let second = try LuaState()
    let function = try second.load("return ...", name: "t")
    let error = try #require(throws: LuaError.self) { try function.call([value]) }
    #expect(error.kind == .foreign)
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

  /// Lua's length of such a table is 2^62.
  @Test func elementsEndWhereOneIsMissing() throws {
    let state = try LuaState()
    let chunk = try state.load("local t = {} for i = 0, 62 do t[1 << i] = i end return t", name: "sparse.lua")
    let table = try #require(try chunk.first().tableValue)
    #expect(try table.elements.compactMap(\.integerValue) == [0, 1])
    #expect(try table.count > 2)
  }

  @Test(arguments: [LuaPreset.pure, .standard, .compat])
  func tracebacksAreTexts(_ preset: LuaPreset) throws {
    let state = try LuaState(preset: preset)
    let source = "local function f() error('x') end\nreturn select(2, xpcall(f, debug.traceback))"
    let text = try state.load(source, name: "t.lua").first().textValue
    #expect(text?.hasPrefix("t.lua:1: x\nstack traceback:\n") == true)
    #expect(text?.contains("t.lua:2: in main chunk") == true)
  }

  @Test func warningsGoToTheErrorStream() throws {
    let state = try LuaState()
    let collected = Collected()
    state.output = collected.sink
    _ = try state.load("warn('no') warn('@on') warn('a', 'b') warn('@off') warn('no')", name: "t")()
    #expect(collected.errors == "Lua warning: ab\n")
    #expect(collected.output.isEmpty)
  }

  /// Hashes of texts differ from run to run; an order does not.
  @Test func pureWalksTablesInOrder() throws {
    let state = try LuaState(preset: .pure)
    let source = """
      local t = { z = 1, a = 2, [3] = 3, ["a\\0b"] = 4, [1.5] = 5, [true] = 6, [false] = 7, [-1] = 8, aa = 9, [math.maxinteger] = 10,
        [math.maxinteger - 1] = 11}
      local walked, stepped = {}, {}
      for k, v in pairs(t) do walked[#walked + 1] = v end
      local k, v = next(t)
      while k ~= nil do stepped[#stepped + 1] = v k, v = next(t, k) end
      local numbers = {}
      for k in pairs({ 10, 20, 30 }) do numbers[#numbers + 1] = k end
      local u = { x = {}, [{}] = 1, [print] = 2 }
      local others = 0
      for k, v in pairs(u) do others = others + 1 u[k] = nil end
      local first
      for k in pairs(math) do first = first or k end
      for _ in next, u do error("emptied") end
      return table.concat(walked, " "), table.concat(stepped, " "), table.concat(numbers, " "), others, first, next({}) == nil
      """
    let results = try state.load(source, name: "t")()
    #expect(results[0].textValue == "8 5 3 11 10 2 4 9 1 7 6")
    #expect(results[1].textValue == results[0].textValue)
    #expect(results[2].textValue == "1 2 3")
    #expect(results[3].integerValue == 3)
    #expect(results[4].textValue == "abs")
    #expect(results[5].booleanValue == true)
  }
}
