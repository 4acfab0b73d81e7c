import MoonbaseLua
import MoonbasePlatform

extension FuzzTarget {
  /// Untrusted sources in every sandboxed preset, and programs of host calls if the first byte is 1.
  static let lua = FuzzTarget(name: "lua", seeds: luaSeeds, words: luaWords) { bytes in
    if bytes.first == LuaHostProgram.mark {
      LuaHostProgram(bytes.dropFirst()).run()
    } else {
      runLua(LuaSource(bytes: bytes, name: "fuzz.lua"))
    }
  }

  private static let luaLimits = LuaLimits(
    instructions: 30_000, memory: 1 << 20, outputSize: 1 << 12, coroutines: 200, callDepth: 5000)

  private static func runLua(_ source: LuaSource) {
    _ = LuaTableLines(source).line(of: ["a", "b"])
    for preset in [LuaPreset.pure, .standard, .compat] {
      guard let state = try? LuaState(preset: preset, limits: luaLimits) else { continue }
      state.output = .none
      do {
        for value in try state.load(source)("argument", 2) { _ = try? state.tree(of: value) }
      } catch {
        _ = error.report
        _ = state.codeFrame(of: error)
        _ = error.value(in: state)
      }
      // The state can still run the next script, which finds the libraries unchanged.
      let check = try? state.load("return ('x'):rep(2) == 'xx' and math.pi > 3 and not stolen", name: "check").first()
      precondition(check?.booleanValue == true, "the state is not what it was")
    }
  }

  private static let luaWords = [
    "function", "end", "local", "<close>", "<const>", "return", "goto", "::a::", "...", "pcall", "xpcall",
    "coroutine.wrap",
    "coroutine.yield", "coroutine.close", "setmetatable", "__index", "__newindex", "__gc", "__close", "__call",
    "__mode",
    "__tostring", "__name", "__metatable", "__len", "__eq", "__lt", "__concat", "__pairs", "string.rep",
    "string.format",
    "string.gsub", "string.pack", "string.unpack", "table.move", "table.unpack", "table.sort", "table.concat",
    "utf8.codes",
    "load", "require", "error", "tostring", "math.mininteger", "math.maxinteger", "1e308", "0x7fffffffffffffff", "%p",
    "%b()",
    "%f[%w]", "[^%s]*", "_ENV", "_G", "select('#', ...)", "collectgarbage()", "os.exit", "\u{1b}Lua", "#!", "[==[",
    "]==]",
    "--[[", "\\u{7FFFFFFF}", "\\x", "//", ">>", "~=", "while true do", "repeat", "until", "for i = 1, 10 do",
  ]

  /// The hostile scripts of the tests, if the checkout exists, and programs of host calls.
  private static let luaSeeds: [[UInt8]] = {
    let attacks = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../MoonbaseLuaTests/Hostile/Attacks").standardizedFileURL
    let files = FileManager.default.enumerator(at: attacks, includingPropertiesForKeys: nil)?.allObjects ?? []
    let scripts = files.compactMap { $0 as? URL }.filter { $0.pathExtension == "lua" }.sorted { $0.path < $1.path }
    let texts = scripts.compactMap { try? Array(Data(contentsOf: $0)) }
    let plain = Array(
      """
      local t = setmetatable({ 1, 2, x = "y" }, { __index = function(t, k) return k end, __close = print })
      for i, v in ipairs(t) do t[#t + 1] = ("%d"):format(v):rep(i):gsub("1", { ["1"] = i }) end
      local co = coroutine.wrap(function(...) local a <close> = t; return coroutine.yield(...) end)
      return co(1, 2), pcall(error, t), string.pack("i4z", 1, "x"), load("return 1")(), table.concat(t, ",")
      """.utf8)
    let programs = (0..<200).map { number in
      [LuaHostProgram.mark] + (0..<120).map { UInt8(truncatingIfNeeded: (number &* 31 &+ $0) &* 2_654_435_761 >> 7) }
    }
    return [plain] + texts + programs
  }()
}
