import MoonbaseLua
import Testing

/// Changes of deadlines. A limit on instructions ends runs where a deadline does not.
@Suite struct DeadlineTests {
  private let slow = LuaLimits(instructions: 5_000_000_000)
  private let quick = LuaLimits(instructions: 5_000_000_000, deadline: .seconds(0.02))

  private func kind(_ state: LuaState, _ code: String = "while true do end") throws -> LuaError.Kind? {
    #expect(throws: LuaError.self) { try state.load(code, name: "t")() }?.kind
  }

  @Test func aDeadlineMayComeNearerBetweenRuns() throws {
    let state = try LuaState(limits: LuaLimits(instructions: 5_000_000_000, deadline: .seconds(100)))
    _ = try state.load("return 1", name: "t")()
    state.limits = quick
    #expect(try kind(state) == .limit(.deadline))
  }

  @Test func aDeadlineMayGoBetweenRuns() throws {
    let state = try LuaState(limits: quick)
    #expect(try kind(state) == .limit(.deadline))
    state.limits = LuaLimits(instructions: 50_000_000)
    #expect(try kind(state) == .limit(.instructions))
  }

  @Test func aDeadlineMayComeInTheMidstOfARun() throws {
    let state = try LuaState(limits: slow)
    try state.setGlobal("hurry", to: state.function { call in call.state.limits = quick })
    #expect(try kind(state, "hurry() while true do end") == .limit(.deadline))
  }
}
