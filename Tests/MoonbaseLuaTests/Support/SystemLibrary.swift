import MoonbaseLua
import Testing

/// Expects a script to return the same long text with the sandbox's libraries as with the system's, which the preset
/// `trusted` keeps.
func expectWhatTheSystemLibraryGives(_ script: String) throws {
  let ours = try LuaState(preset: .standard, limits: .none)
  let theirs = try LuaState(preset: .trusted, limits: .none)
  let mine = try #require(try ours.load(script, name: "compare.lua").first().stringValue)
  #expect(mine.bytes.count > 100_000)
  #expect(try theirs.load(script, name: "compare.lua").first().stringValue == mine)
}
