import MoonbaseLua
import Testing

/// Swift functions that scripts call.
@Suite struct HostFunctionTests {
  @Test func hostFunctionsGetTypedArguments() throws {
    let state = try LuaState()
    try state.setGlobal(
      "resize",
      to: state.function { call in
        call.return(try call.text(0))
        call.return(try call.number(1) * 2)
      })
    let results = try state.load("return resize('a', 2.5)", name: "t")()
    #expect(results.map(\.typeName) == ["string", "number"])
    let error = try #require(throws: LuaError.self) { try state.load("resize('a')", name: "t.lua")() }
    #expect(error.description == "t.lua:1: bad argument #2 to 'resize' (number expected, got no value)")
  }

  @Test(arguments: ["fail", "mixed"]) func theTextsOfFailedCallsAreLetGoOfWhileTheScriptRuns(function: String) throws {
    let state = try LuaState(limits: LuaLimits(memory: 4 << 20))
    try state.setGlobal(
      "fail", to: state.function { call in throw call.argumentError(0, problem: String(repeating: "x", count: 1000)) })
    // Fails with an error value other than a text, after a text result.
    try state.setGlobal(
      "mixed",
      to: state.function { call in
        call.return(String(repeating: "y", count: 1000))
        throw CancellationError()
      })
    let script = "for _ = 1, 20000 do assert(not pcall(\(function))) end"
    #expect(throws: Never.self) { try state.load(script, name: "t")() }
  }
}
