import MoonbaseLua
import Testing

/// The lines that are shown around the place of an error.
@Suite struct CodeFrameTests {
  @Test func aCodeFrameHasACaret() throws {
    let state = try LuaState()
    let error = try #require(throws: LuaError.self) {
      try state.load("local p\n\nprint(p.x)\n", name: "frame.lua")()
    }
    #expect(
      state.codeFrame(of: error, context: 1) == """
          2 | 
        > 3 | print(p.x)
            |       ^
          4 | 
        """)
    let syntax = try #require(throws: LuaError.self) { try state.load("x = = 1", name: "s.lua") }
    #expect(state.codeFrame(of: syntax) == "> 1 | x = = 1\n    |     ^")
  }
}
