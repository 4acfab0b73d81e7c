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
}
