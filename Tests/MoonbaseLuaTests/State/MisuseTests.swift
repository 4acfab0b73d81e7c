import MoonbaseLua
import MoonbasePlatform
import Testing

/// The API in an order that it is not made for: clear errors, no crash.
@Suite struct MisuseTests {
  @Test func whatIsLeftOfAClosedStateSaysSo() throws {
    var state: LuaState? = try LuaState()
    let made = try #require(
      try state?.load("return { 1 }, function() return 1 end, coroutine.create(print), 'text'", name: "t")())
    let chunk = try #require(try state?.load("return 1", name: "t"))
    let call = LuaFastCall(try #require(made[1].functionValue), parameters: 1)
    state = nil
    let table = try #require(made[0].tableValue)
    let attempts: [() throws -> Void] = [
      { _ = try table.get(1) }, { try table.set("a", 1) }, { _ = try table.pairs }, { try table.markAsList() },
      { _ = try made[1].functionValue?.call([]) }, { _ = try chunk() }, { _ = try call.value() },
      { _ = try made[1].functionValue?.makeThread() }, { _ = try made[2].threadValue?.resume() },
      { _ = try made[2].threadValue?.status }, { try made[2].threadValue?.close() },
      { _ = try call.value { try $0.set(0, made[0]) } }, { _ = try call.run { $0.integer } },
    ]
    for (number, attempt) in attempts.enumerated() {
      let error = #expect(throws: LuaError.self, "attempt \(number)") { try attempt() }
      #expect(error?.kind == .closed, "attempt \(number): \(String(describing: error))")
    }
    #expect(made[3].textValue == "text")
  }

  @Test func valuesOfAnotherStateAreRefused() throws {
    let first = try LuaState()
    let second = try LuaState()
    let foreign = try first.load("return { 1 }, function() end, coroutine.create(print)", name: "t")()
    let own = try second.table()
    let function = try #require(try second.load("return function(...) return ... end", name: "t").first().functionValue)
    let call = LuaFastCall(function, parameters: 1)
    for value in foreign {
      let attempts: [() throws -> Void] = [
        { try own.set("a", value) }, { try own.set(value, 1) }, { _ = try own.get(value) },
        { _ = try function.call([value]) }, { _ = try call.value { try $0.set(0, value) } },
        { try second.setGlobal("g", value) },
        { _ = try second.tree(of: .table(second.list([value]))) },
      ]
      for (number, attempt) in attempts.enumerated() {
        let error = #expect(throws: LuaError.self, "attempt \(number)") { try attempt() }
        #expect(error?.kind == .foreign, "attempt \(number): \(String(describing: error))")
      }
    }
    let table = try #require(foreign[0].tableValue)
    let elsewhere = try first.environment()
    let chunk = try LuaChunk(LuaSource("return 1", name: "t"))
    for attempt in [
      { try own.setMetatable(table) }, { try own.replaceContents(with: first.table(["a": 1, "b": .table(table)])) },
      { _ = try second.load("return 1", name: "t", in: elsewhere) },
      { _ = try second.load(chunk, in: elsewhere) },
    ] {
      let error = #expect(throws: LuaError.self) { try attempt() }
      #expect(error?.kind == .foreign)
    }
    try second.setGlobal("give", second.function { call in try call.return(foreign[0]) })
    let error = try #require(throws: LuaError.self) { try second.load("give()", name: "t")() }
    #expect(error.kind == .foreign)
    #expect(try second.load("return 1", name: "t").first().integerValue == 1)
  }

  @Test func aCoroutineIsResumedByOneOnly() throws {
    let state = try LuaState()
    var thread: LuaThread?
    try state.setGlobal("again", state.function { _ in _ = try thread?.resume() })
    try state.setGlobal("end_it", state.function { _ in try thread?.close() })
    for code in ["again()", "end_it()", "coroutine.wrap(function() again() end)()"] {
      thread = try state.load("return function() \(code) end", name: "t").first().functionValue?.makeThread()
      #expect(throws: LuaError.self, "\(code)") { try thread?.resume() }
      #expect(try thread?.status == .dead)
      #expect(throws: LuaError.self) { try thread?.resume() }
    }
    #expect(try state.load("return 1", name: "t").first().integerValue == 1)
  }

  /// A run is one thread's at a time: the thread may differ from one to the next, also for a coroutine.
  @Test func aCoroutineGoesOnInAnotherThread() throws {
    let state = try LuaState(limits: LuaLimits(deadline: 5))
    let code = "return function() for i = 1, 100 do coroutine.yield(i) end end"
    let thread = try #require(try state.load(code, name: "t").first().functionValue?.makeThread())
    nonisolated(unsafe) let shared = thread  // each resume waits for the one before it
    nonisolated(unsafe) var seen: [Int64?] = []  // the same
    for _ in 0..<10 {
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        seen.append((try? shared.resume())?.first?.integerValue)
        done.signal()
      }
      done.wait()
    }
    #expect(seen == (1...10).map(Int64.init))
  }

  /// Errors of Swift cross every kind of call back into Swift.
  @Test func errorsCrossCallsWithinCalls() throws {
    struct Refusal: Error {}
    let state = try LuaState()
    try state.setGlobal("refuse", state.function { _ in throw Refusal() })
    try state.setGlobal("call", state.function { call in _ = try call.function(0).call([]) })
    let other = try LuaState()
    try other.setGlobal("refuse", other.function { _ in throw Refusal() })
    try state.setGlobal(
      "elsewhere",
      state.function { call in try other.run(onBehalfOf: call.state) { _ = try other.load("refuse()", name: "o")() } })
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

  @Test func aRunWithinARunIsOneRun() throws {
    let state = try LuaState(limits: LuaLimits(instructions: 100_000))
    let spin = try state.load("for i = 1, 20000 do end", name: "t")
    let error = try #require(throws: LuaError.self) {
      try state.run { for _ in 0..<100 { try state.run { _ = try spin() } } }
    }
    #expect(error.kind == .limit(.instructions))
    #expect(!state.isRunning)
    _ = try spin()
  }
}
