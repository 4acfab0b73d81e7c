import MoonbaseLua
import MoonbasePlatform
import Testing

/// Chunks, nested runs, and ending a run from outside.
@Suite struct StateTests {
  @Test func aChunkRunsWithArgumentsAndResults() throws {
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

  @Test func anotherStateRunsOnTheBudget() throws {
    let outer = try LuaState(limits: LuaLimits(instructions: 300_000))
    let inner = try LuaState()
    let spin = try inner.load("for i = 1, 20000 do end", name: "inner")
    try outer.setGlobal(
      "spin",
      to: outer.function { call in
        try inner.run(onBehalfOf: call.state) { _ = try spin() }
      })
    _ = try outer.load("for i = 1, 5 do spin() end", name: "outer")()
    let error = try #require(throws: LuaError.self) { try outer.load("while true do spin() end", name: "outer")() }
    #expect(error.kind == .limit(.instructions))
    #expect(inner.limits.instructions == nil)
  }

  @Test func theMemoryOfAStateCountsForTheOneThatItWorksFor() throws {
    let states = try [LuaState(), LuaState()]
    let before = states.map(\.memoryUsed)
    func growth() -> [Bool] { zip(states, before).map { $0.memoryUsed - $1 > 2_000_000 } }
    var inner: LuaState? = try LuaState()
    let fill = try inner?.load("kept = ('x'):rep(3000000)", name: "inner")
    for (index, outer) in states.enumerated() {
      try outer.setGlobal(
        "fill", to: outer.function { call in try inner?.run(onBehalfOf: call.state) { _ = try fill?() } })
      _ = try outer.load("fill()", name: "outer")()
      states[0].collectGarbage()
      #expect(growth() == [index == 0, index == 1])
    }
    inner = nil
    states[1].collectGarbage()
    #expect(growth() == [false, false])
  }

  /// A call outside of a run does not use the run of an earlier call.
  @Test func aStateOutlivesTheOneItRanWithin() throws {
    let inner = try LuaState()
    for _ in 0..<20 {
      let outer = try LuaState()
      try outer.setGlobal("f", to: outer.function { _ in _ = try inner.load("return 1", name: "inner")() })
      _ = try outer.load("f()", name: "outer")()
    }
    #expect(try inner.table(elements: 2, fields: 2).count == 0)
  }

  @Test func exitEndsTheRunNotTheProcess() throws {
    let state = try LuaState()
    let error = try #require(throws: LuaError.self) { try state.load("pcall(os.exit, 7) print('no')", name: "t")() }
    #expect(error.kind.exitStatus == 7)
  }

  @Test func interruptEndsARun() throws {
    let state = try LuaState()
    let interrupter = state.interrupter
    try state.setGlobal(
      "ready",
      to: state.function { _ in
        Thread.detachNewThread { interrupter.interrupt() }
      })
    let error = try #require(throws: LuaError.self) { try state.load("ready() while true do end", name: "t")() }
    #expect(error.kind == .interrupted)
  }

  @Test func warningsGoToTheErrorStream() throws {
    let state = try LuaState()
    let collected = Collected()
    state.output = collected.sink
    _ = try state.load("warn('no') warn('@on') warn('a', 'b') warn('@off') warn('no')", name: "t")()
    #expect(collected.errors == "Lua warning: ab\n")
    #expect(collected.output.isEmpty)
  }
}
