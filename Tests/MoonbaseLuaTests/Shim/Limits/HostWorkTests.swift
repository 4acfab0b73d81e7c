import MoonbaseLua
import MoonbasePlatform
import Testing

/// The host's work for a script, under the script's limits. Endless work ends only by the limit.
@Suite struct HostWorkTests {
  private func state(_ limits: LuaLimits) throws -> LuaState {
    let state = try LuaState(limits: limits)
    try state.setGlobal("work", to: state.function { _ in while true { try HostWork.charge() } })
    try state.setGlobal(
      "units", to: state.function { call in try HostWork.charge(Int(try call.integer(0))) })
    return state
  }

  private func kind(_ state: LuaState, _ code: String) throws -> LuaError.Kind? {
    #expect(throws: LuaError.self) { try state.load(code, name: "t")() }?.kind
  }

  @Test(arguments: ["work()", "while true do pcall(work) end", "coroutine.wrap(work)()"])
  func instructionsCountWorkOfTheHost(_ code: String) throws {
    #expect(try kind(state(LuaLimits(instructions: 1_000_000)), code) == .limit(.instructions))
  }

  @Test(arguments: ["work()", "while true do pcall(work) end"])
  func aDeadlineHoldsForWorkOfTheHost(_ code: String) throws {
    #expect(try kind(state(LuaLimits(deadline: .seconds(0.02))), code) == .limit(.deadline))
  }

  @Test func anInterruptionEndsWorkOfTheHost() throws {
    let state = try state(.none)
    let interrupter = state.interrupter
    try state.setGlobal("interrupt", to: state.function { _ in interrupter.interrupt() })
    #expect(try kind(state, "interrupt() while true do pcall(work) end") == .interrupted)
  }

  @Test func aUnitCostsTenInstructions() throws {
    let state = try state(LuaLimits(instructions: 1_000_000))
    let left = try state.run {
      _ = try state.load("units(50000)", name: "t")()
      return state.remainingInstructions ?? 0
    }
    #expect((499_000...500_000).contains(left))
  }

  @Test func workForAStateThatWorksForAnotherOneIsChargedToBoth() throws {
    let outer = try state(LuaLimits(instructions: 1_000_000))
    let inner = try state(.none)
    try outer.setGlobal(
      "inner",
      to: outer.function { call in try inner.run(onBehalfOf: call.state) { _ = try inner.load("work()", name: "i")() } }
    )
    #expect(try kind(outer, "while true do pcall(inner) end") == .limit(.instructions))
  }

  /// A host function that catches the error and continues is stopped again, in another state too.
  @Test func aHostThatGoesOnIsStoppedAgain() throws {
    let outer = try state(LuaLimits(deadline: .seconds(0.02)))
    let inner = try LuaState()
    var kinds: [LuaError.Kind?] = []
    try outer.setGlobal(
      "stubborn",
      to: outer.function { _ in
        let endless: () throws -> Void = { while true { try HostWork.charge() } }
        let inAnotherState: () throws -> Void = { _ = try inner.load("while true do end", name: "i")() }
        for attempt in [endless, endless, inAnotherState] {
          do { try attempt() } catch { kinds.append((error as? LuaError)?.kind) }
        }
      })
    #expect(try kind(outer, "stubborn()") == .limit(.deadline))
    #expect(kinds == Array(repeating: .limit(.deadline), count: 3))
  }

  @Test func withoutAScriptWorkHasNoEnd() throws {
    _ = try state(LuaLimits(instructions: 1000))
    for _ in 0..<100 { try HostWork.charge(1_000_000_000) }
  }

  @Test func aStateCanBeUsedAfterItsHostWasStopped() throws {
    let state = try state(LuaLimits(instructions: 100_000))
    #expect(try kind(state, "work()") == .limit(.instructions))
    #expect(try state.load("units(10) return 1", name: "t").first().integerValue == 1)
    try HostWork.charge(1_000_000_000)
  }
}
