import MoonbaseLua
import MoonbasePlatform
import Testing

/// Executed source lines are counted, also in coroutines and functions, and limits still apply.
@Suite struct CoverageTests {
  private func lines(
    of code: String, limits: LuaLimits = LuaLimits(), _ body: (LuaFunction) throws -> Void = { try $0() }
  ) throws -> LuaCoverage.Lines {
    let coverage = LuaCoverage()
    try LuaCoverage.$current.withValue(coverage) {
      let state = try LuaState(limits: limits)
      try body(try state.load(code, name: "a.lua"))
    }
    #expect(!coverage.isIncomplete)
    return coverage.lines(of: "a.lua")
  }

  @Test(arguments: [LuaLimits(), .none])
  func linesThatRanAreToldFromThoseThatDidNot(_ limits: LuaLimits) throws {
    let code = """
      local function called(x)
        if x then
          return 1
        end
        return 2
      end
      -- a comment
      kept = function()
        local a = 1

        return a
      end
      return called(true)
      """
    let found = try lines(of: code, limits: limits)
    #expect(found.able.isSuperset(of: [2, 3, 5, 9, 11, 13]) && found.able.isDisjoint(with: [4, 7, 10]), "\(found)")
    #expect(found.ran.isSuperset(of: [2, 3, 13]), "\(found)")
    #expect(found.missed == [5...5, 9...11], "\(found)")
  }

  @Test func linesOfCoroutinesAndProtectedCallsAreCounted() throws {
    let found = try lines(
      of: """
        local co = coroutine.wrap(function()
          coroutine.yield(1)
          return 2
        end)
        co()
        pcall(function()
          error("x")
          co()
        end)
        """)
    #expect(found.ran.isSuperset(of: [2, 5, 7]) && found.missed == [3...3, 8...8], "\(found)")
  }

  @Test func limitsHoldWhileLinesAreCounted() throws {
    let found = try lines(of: "local n = 0\nwhile true do\n  n = n + 1\nend", limits: LuaLimits(instructions: 100_000))
    {
      let function = $0
      let error = try #require(throws: LuaError.self) { try function() }
      #expect(error.kind == .limit(.instructions))
    }
    #expect(found.ran.isSuperset(of: [1, 3]))
    _ = try lines(of: "local function f() return 1 + f() end\nreturn f()", limits: LuaLimits(callDepth: 1000)) {
      let function = $0
      #expect(throws: LuaError.self) { try function() }
    }
  }

  @Test func aScriptThatTakesTheNameOfAnUnknownFileIsNotCounted() throws {
    let coverage = LuaCoverage()
    try LuaCoverage.$current.withValue(coverage) {
      let state = try LuaState()
      try state.load("load('return 1', '@other.lua')()", name: "a.lua")()
    }
    #expect(coverage.lines(of: "other.lua").able == [] && coverage.lines(of: "a.lua").ran == [1])
  }

  @Test func nothingIsCountedThatWasNotAskedFor() throws {
    let coverage = LuaCoverage()
    let state = try LuaState()
    try state.load("return 1", name: "a.lua")()
    #expect(coverage.lines(of: "a.lua").able == [])
  }
}
