import MoonbaseLua
import Testing

/// `string.format` in sandboxes, compared with the system library's, which the preset `trusted` keeps.
@Suite struct FormatTests {
  /// Many conversions and long texts are formatted piece by piece.
  @Test func aLongFormatGivesWhatTheSystemLibraryGives() throws {
    let script = #"""
      local numbers, texts = {}, {}
      for i = 1, 500 do numbers[i] = i / 3 texts[i] = i % 50 == 0 and ("long\0"):rep(10000) or "t" .. i end
      local quoted = ("\1\0012\0013\0\r\"\\\n9"):rep(20000)
      return string.format(("%5.2f%%|"):rep(500) .. "end", table.unpack(numbers)),
        string.format(("%s-%%"):rep(500), table.unpack(texts)),
        string.format("%d %q %5s %q %q", 1, quoted, "x", "short", quoted), string.format("%q", ("\127é\200"):rep(30000)),
        string.format(("%q "):rep(100), table.unpack(numbers, 1, 100))
      """#
    func results(_ preset: LuaPreset) throws -> [[UInt8]?] {
      let state = try LuaState(preset: preset)
      return try withExtendedLifetime(state) {
        try state.load(script, name: "f.lua")().map { $0.stringValue.map { Array($0.bytes) } }
      }
    }
    let found = try results(.standard)
    #expect(found.count == 5 && found.allSatisfy { $0 != nil })
    #expect(try found == results(.trusted))
  }

  @Test func anArgumentOfALongFormatIsToldByItsNumber() throws {
    let script = """
      local t = {} for i = 1, 200 do t[i] = i end
      t[150] = "x"
      return select(2, pcall(function() return string.format(("%d"):rep(200), table.unpack(t)) end))
      """
    let state = try LuaState()
    let message = try state.load(script, name: "f.lua").first().textValue
    #expect(message == "f.lua:3: bad argument #151 to 'format' (number expected, got string)")
  }

  @Test(arguments: [#""%p""#, #""%-20p""#, #""\0%p""#, #""%%%p""#, #"("%d"):rep(100) .. "%p""#])
  func addressesAreNotTold(_ format: String) throws {
    let script =
      "local t = {} for i = 1, 101 do t[i] = i end t[1] = #%s > 9 and 1 or t return pcall(string.format, %s, table.unpack(t))"
    let state = try LuaState()
    let results = try state.load(script.replacing("%s", with: "(\(format))"), name: "f.lua")()
    #expect(results.first?.isTrue == false)
    #expect(results.last?.textValue?.contains("'%p' is not available in a sandbox") == true)
  }
}
