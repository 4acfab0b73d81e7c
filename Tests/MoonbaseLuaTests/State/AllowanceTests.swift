import MoonbasePlatform
import Testing

@testable import MoonbaseLua

/// Allowances within a run: their effect, their owners, and their charge to the run.
@Suite struct AllowanceTests {
  private final class Owner {}

  private static func spin(_ state: LuaState, _ count: Int) throws {
    _ = try state.load("for i = 1, \(count) do end", name: "spin.lua")()
  }

  private func state(instructions: Int64 = 10_000_000) throws -> LuaState {
    try LuaState(limits: LuaLimits(instructions: instructions, deadline: .seconds(20)))
  }

  private func limit(_ body: () throws -> Void) -> LuaError.Limit? {
    do { try body() } catch { return (error as? LuaAllowanceExceeded)?.limit }
    return nil
  }

  @Test func aCallEndsAndTheRunGoesOn() throws {
    let state = try state()
    let owner = Owner()
    try state.run {
      for _ in 0..<3 {
        let end1 = limit {
          try state.within(.init(instructions: 100_000), of: owner) { try Self.spin(state, 1_000_000) }
        }
        #expect(end1 == .instructions)
        try state.within(.init(instructions: 100_000), of: owner) { try Self.spin(state, 10_000) }
        try Self.spin(state, 200_000)
      }
    }
  }

  @Test func theFrameTellsWhereItWas() throws {
    let state = try state()
    let error = #expect(throws: LuaAllowanceExceeded.self) {
      try state.within(.init(instructions: 10_000), of: Owner()) {
        _ = try state.load("local x\nwhile true do x = 1 end", name: "a.lua")()
      }
    }
    #expect(error?.frame?.source == "a.lua" && error?.frame?.line == 2)
  }

  /// An error that the host catches or ignores still ends the call.
  @Test func aHostThatSwallowsTheErrorCannotSwallowTheLimit() throws {
    let state = try state()
    let end2 = limit {
      try state.within(.init(instructions: 10_000), of: Owner()) { try? Self.spin(state, 1_000_000) }
    }
    #expect(end2 == .instructions)
  }

  @Test func onlyTheInnermostIsCharged() throws {
    let state = try state()
    let (outer, inner) = (Owner(), Owner())
    try state.run {
      try state.within(.init(instructions: 100_000), of: outer) {
        for _ in 0..<5 {
          try state.within(.init(instructions: 100_000), of: inner) { try Self.spin(state, 50_000) }
        }
        try Self.spin(state, 50_000)
      }
      #expect(try #require(state.remainingInstructions) < 9_710_000)
    }
  }

  @Test func callsOfOneOwnerShare() throws {
    let state = try state()
    let (one, other) = (Owner(), Owner())
    let allowance = LuaAllowance(instructions: 100_000)
    let ended = limit {
      try state.within(allowance, of: one) {
        for _ in 0..<5 {
          try? state.within(allowance, of: other) {
            try? state.within(allowance, of: one) { try Self.spin(state, 30_000) }
          }
        }
        try Self.spin(state, 1_000)
      }
    }
    #expect(ended == .instructions)
  }

  @Test func workInAnotherStateCountsOnceAndForTheRun() throws {
    let (state, helper) = (try state(), try LuaState(limits: LuaLimits(instructions: 10_000_000)))
    let (outer, inner) = (Owner(), Owner())
    try state.run {
      try state.within(.init(instructions: 100_000), of: outer) {
        for _ in 0..<3 {
          try helper.within(.init(instructions: 400_000), of: inner) { try Self.spin(helper, 200_000) }
        }
        try Self.spin(state, 50_000)
      }
      #expect(try #require(state.remainingInstructions) < 9_400_000)
      // Without its own allowance, the other state uses the innermost one.
      let end3 = limit {
        try state.within(.init(instructions: 100_000), of: outer) {
          try helper.runNested { try Self.spin(helper, 200_000) }
        }
      }
      #expect(end3 == .instructions)
      // An owner's allowance is the same in both states.
      let end4 = limit {
        try state.within(.init(instructions: 100_000), of: outer) {
          try Self.spin(state, 60_000)
          try helper.within(.init(instructions: 100_000), of: outer) { try Self.spin(helper, 60_000) }
        }
      }
      #expect(end4 == .instructions)
    }
  }

  @Test func whatEndsTheRunEndsIt() throws {
    let small = try state(instructions: 50_000)
    #expect(throws: LuaError.self) {
      try small.run {
        try small.run(within: .init(instructions: 100_000), of: Owner()) { try Self.spin(small, 1_000_000) }
      }
    }
    let state = try state()
    let interrupter = state.interrupter
    try state.setGlobal("interrupt", to: state.function { _ in interrupter.interrupt() })
    let kinds = try ["os.exit(4)", "interrupt() while true do end"].map { text in
      let error = #expect(throws: LuaError.self) {
        try state.run {
          try state.within(.init(instructions: 5_000_000, seconds: 10), of: Owner()) {
            _ = try state.load(text, name: "x.lua")()
          }
        }
      }
      return try #require(error).kind
    }
    #expect(kinds == [.exit(4), .interrupted])
    try Self.spin(state, 1_000)
  }

  @Test func memoryIsThatOfTheInnermost() throws {
    let state = try state()
    let (outer, inner) = (Owner(), Owner())
    try state.run {
      try state.within(.init(memory: 1 << 20), of: outer) {
        try state.within(.init(memory: 16 << 20), of: inner) {
          _ = try state.load("kept = ('x'):rep(4 << 20)", name: "m.lua", in: state.environment())()
        }
        _ = try state.load("local t = {} for i = 1, 1000 do t[i] = { i } end", name: "m.lua")()
      }
      let end5 = limit {
        try state.within(.init(memory: 1 << 20), of: outer) {
          _ = try state.load("local t = {} for i = 1, 1e9 do t[i] = { i } end", name: "m.lua")()
        }
      }
      #expect(end5 == .memory)
    }
  }

  @Test func theClockOfTheOuterOneStops() throws {
    let state = try LuaState()
    let (outer, inner) = (Owner(), Owner())
    let spin = "local n = os.clock() + 0.06 while os.clock() < n do end"
    try state.run {
      try state.within(.init(seconds: 0.05), of: outer) {
        try state.within(.init(seconds: 10), of: inner) { _ = try state.load(spin, name: "t.lua")() }
      }
      let end6 = limit {
        try state.within(.init(seconds: 0.02), of: outer) {
          _ = try state.load("while true do end", name: "t.lua")()
        }
      }
      #expect(end6 == .deadline)
      _ = try state.load("for i = 1, 1000 do end", name: "t.lua")()
    }
  }

  /// A coroutine made before any limit is counted within an allowance.
  @Test func oldCoroutinesAreCountedToo() throws {
    let state = try LuaState()
    let environment = try state.environment()
    try state.run {
      _ = try state.load(
        "c = coroutine.create(function() while true do coroutine.yield() end end)", name: "c.lua", in: environment)()
      state.countsInstructions = true
      let end7 = limit {
        try state.within(.init(instructions: 50_000), of: Owner()) {
          _ = try state.load("while true do coroutine.resume(c) end", name: "c.lua", in: environment)()
        }
      }
      #expect(end7 == .instructions)
    }
  }
}

extension LuaState {
  /// Runs a body without a result within an allowance.
  fileprivate func within(_ allowance: LuaAllowance, of owner: AnyObject, _ body: () throws -> Void) throws {
    try run(within: allowance, of: owner, body)
  }
}
