import MoonbaseLua
import Testing

/// The part of `debug` available to sandboxed scripts.
@Suite struct DebugLibraryTests {
  @Test(arguments: [LuaPreset.pure, .standard, .compat])
  func tracebacksAreTexts(_ preset: LuaPreset) throws {
    let state = try LuaState(preset: preset)
    let source = "local function f() error('x') end\nreturn select(2, xpcall(f, debug.traceback))"
    let text = try state.load(source, name: "t.lua").first().textValue
    #expect(text?.hasPrefix("t.lua:1: x\nstack traceback:\n") == true)
    #expect(text?.contains("t.lua:2: in main chunk") == true)
  }
}
