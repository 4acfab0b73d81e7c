import MoonbaseLua
import Testing

/// The source lines shown around the place of an error.
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
    let named = try #require(throws: LuaError.self) {
      try state.load("local p = { q = 1 }\nerror('there is no field r')", name: "n.lua")()
    }
    #expect(state.codeFrame(of: named, context: 0) == "> 2 | error('there is no field r')\n    | ^")
    let text = LuaSource("c:fetch(\"Persn\")", name: "t.lua").frame(line: 1, message: "there is no entity Persn")
    #expect(text == "> 1 | c:fetch(\"Persn\")\n    |          ^")
    let field = LuaSource("print(p.name, p.nam)", name: "f.lua").frame(
      line: 1, message: "P has no property nam; did you mean name?")
    #expect(field == "> 1 | print(p.name, p.nam)\n    |                 ^")
    let syntax = try #require(throws: LuaError.self) { try state.load("x = = 1", name: "s.lua") }
    #expect(state.codeFrame(of: syntax) == "> 1 | x = = 1\n    |     ^")
  }
}
