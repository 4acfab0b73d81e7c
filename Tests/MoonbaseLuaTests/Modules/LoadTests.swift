import MoonbaseLua
import Testing

/// Loading sources and compiled chunks.
@Suite struct LoadTests {
  @Test func badSourcesAreClearErrors() throws {
    let state = try LuaState()
    let cases: [([UInt8], LuaError.Kind)] = [
      ([0x1B, 0x4C, 0x75, 0x61], LuaError.Kind.binary), ([0xFF, 0xFE], .encoding),
      (Array(repeating: 0x20, count: 2 << 20), .limit(.source)),
    ]
    for (bytes, kind) in cases {
      let error = try #require(throws: LuaError.self) { try state.load(LuaSource(bytes: bytes, name: "b.lua")) }
      #expect(error.kind == kind)
      #expect(error.script == "b.lua")
    }
    #expect(try state.load("\u{FEFF}#!/usr/bin/lua\nreturn 1", name: "t").first().integerValue == 1)
  }

  @Test func aChunkRunsInManyStates() throws {
    let chunk = try LuaChunk(LuaSource("local a = ... return a * 2", name: "c.lua"))
    for _ in 0..<3 {
      let state = try LuaState()
      #expect(try state.load(chunk).first(21).integerValue == 42)
    }
    #expect(throws: LuaError.self) { try LuaState().load("return load('\\27Lua')()", name: "t")() }
  }
}
