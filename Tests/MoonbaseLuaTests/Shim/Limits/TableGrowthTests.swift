import MoonbaseLua
import MoonbasePlatform
import Testing

/// The price of a growing table depends on collisions of its keys. Colliding keys, as in
/// `Attacks/tables/colliding-*.lua`, end a run; ordinary keys cost nothing extra.
@Suite struct TableGrowthTests {
  /// The instructions that a script costs. The distant deadline is exceeded only by a wrong estimate.
  private func price(of code: String) throws -> Int64 {
    let state = try LuaState(limits: LuaLimits(instructions: 200_000_000, deadline: .seconds(600)))
    let script = try state.load(code, name: "t")
    return try state.run {
      _ = try script()
      return 200_000_000 - (state.remainingInstructions ?? 0)
    }
  }

  @Test(arguments: [
    "t[i]", "t[-i]", "t[i * 1000]", "t[i * 65521]", "t[1e15 // 1 | 0 + i * 7]", "t[i << 20]", "t[i * 0.1]", "t[1 / i]",
    "t['k' .. i]",
    "t[i % 2 == 0 and i * 3 or i + 0.5]",
  ])
  func honestKeysCostNothing(_ place: String) throws {
    let count = 1 << 17
    // A few instructions for each key, and memory by its size.
    #expect(try price(of: "local t = {} for i = 1, \(count) do \(place) = true end") < Int64(20 * count))
  }

  @Test func keysThatCollideCostTheSameInEveryRun() throws {
    let code = "local t = {} for i = 1, 2 ^ 13 do t[i * 16383] = true end t[-1] = true"
    let prices = try (0..<3).map { _ in try price(of: code) }
    #expect(Set(prices).count == 1)
    // Half an instruction for each step: (2^13)^2 / 2 of them.
    #expect(prices[0] > 1 << 24)
  }

  @Test func aTableWhoseGrowthIsRefusedIsAsItWas() throws {
    let state = try LuaState(limits: LuaLimits(instructions: 10_000_000))
    try state.setGlobal("t", to: .table(state.table()))
    let environment = try state.environment()
    let fill = "for i = 1, 2 ^ 16 do t[i * 131071] = i end"
    _ = try state.load(fill, name: "t", in: environment)()
    let error = #expect(throws: LuaError.self) { try state.load("t[-1] = 1", name: "t", in: environment)() }
    #expect(error?.kind == .limit(.instructions))
    let check = "for i = 1, 2 ^ 16 do assert(t[i * 131071] == i) end return t[-1] == nil"
    state.limits = .none
    #expect(try state.load(check, name: "t", in: environment).first().booleanValue == true)
  }
}
