import MoonbaseLua
import MoonbasePlatform
import Testing

/// Attacks from the published faults of Lua and its hosts: each ends with an error or a harmless result, and the state goes on.
@Suite struct HostileTests {
  static let limits = LuaLimits(instructions: 500_000, memory: 8 << 20, outputSize: 1 << 16)

  static let sandboxed: [LuaPreset] = [.pure, .standard, .compat]

  /// Scripts that must end with an error.
  static let refused: [(String, String)] = [
    // CVE-2015-4335: bytecode.
    ("assert(load(string.dump(print)))", "dump"), ("assert(load('\\27Lua'))", "binary"),
    ("assert(load('\\27Lua', 'x', 'b'))", "binary"), ("assert(load('x', 'x', 'b'))", "binary"),
    // CVE-2015-8080, CVE-2020-14147: sizes of packed integers.
    ("string.pack('i' .. 2^31, 1)", ""), ("string.packsize('s' .. ('9'):rep(20))", ""),
    ("string.packsize(('i16'):rep(2^27))", ""),
    // CVE-2025-46817, 46818, 46819.
    ("table.unpack({}, 1, 2^31 - 1)", "too many results"),
    ("table.unpack({}, math.mininteger, math.maxinteger)", "too many results"),
    ("getmetatable('').__index = {}", ""), ("assert(load('[' .. ('='):rep(100000)))", ""),
    ("assert(('x').dump or ('x').rep ~= string.rep or ('x').gsub ~= string.gsub)", "assertion"),
    // Other scripts' globals and libraries, CVE-2022-24735.
    ("string.format = nil", "frozen"), ("rawset(math, 'pi', 3)", "frozen"), ("setmetatable(string, {})", "protected"),
    ("table.move({ 1 }, 1, 1, 1, string)", "frozen"), ("table.insert(table, 1)", "frozen"),
    ("for k in pairs(coroutine) do coroutine[k] = nil end", "frozen"),
    // Finalizers run with hooks off.
    ("setmetatable({}, { __gc = function() while true do end end })", "__gc"),
    // C loaders, CVE-2022-0543.
    ("require 'io'", ""), ("require '../../etc/passwd'", ""), ("require('a\\0b')", ""), ("require ''", ""),
    ("package.loadlib('liblua5.4.so', 'luaopen_io')", ""), ("debug.getregistry()", ""), ("io.popen('true')", ""),
    ("os.execute()", ""), ("dofile('/etc/passwd')", ""), ("loadfile('/etc/passwd')()", ""),
    // Addresses.
    ("string.format('%p', {})", "%p"),
    // Hostile error values.
    ("error(setmetatable({}, { __tostring = function() error() end }))", ""),
    ("error(setmetatable({}, { __tostring = function() return 1 end }))", ""),
    ("error(setmetatable({}, { __index = error, __name = 5 }))", ""), ("error(nil)", ""), ("error()", ""),
    ("local function f() return f() + 1 end f()", ""),
    ("local function f() pcall(f) f() end f()", ""), ("xpcall(error, function() error() end) error('end')", ""),
    // CVE-2021-43519: the C stack of nested coroutines.
    ("local function f() pcall(1) coroutine.wrap(f)() end f()", "C stack overflow"),
    ("string.gsub('x', '.', function() return ('x'):gsub('.', error) end)", ""),
    ("string.rep('x', 1 << 40)", "too large"), ("string.rep('', 1 << 62, 'xx')", "too large"),
    ("string.format('%1000d', 1)", ""), ("string.format('%d', 'x')", "string.format"),
    ("utf8.char(2^31)", ""), ("setmetatable({}, { __metatable = 1 }).x.y = 1", ""),
    ("coroutine.wrap(function() coroutine.yield() error({}) end)()()", ""),
    ("table.concat({ {} })", "concat"), ("table.sort({ 3, 2, 1 }, function() return true end); error 'end'", ""),
    ("local t = setmetatable({}, { __index = function(t, k) return t[k] end }) return t.x", ""),
    ("assert(load(('('):rep(300) .. '1' .. (')'):rep(300)))", ""),
    ("assert(load('local _ENV <const> = 1; a = 1'))()", ""), ("goto nowhere", ""), ("end error('x'", ""), ("--[[", ""),
  ]

  @Test(arguments: sandboxed) func attacksAreRefused(_ preset: LuaPreset) throws {
    for (code, message) in Self.refused {
      let state = try LuaState(preset: preset, limits: Self.limits)
      let error = #expect(throws: LuaError.self, "\(code)") { try state.load(code, name: "t")() }
      if let error { #expect(message.isEmpty || error.message.contains(message), "\(code): \(error.message)") }
      #expect(try state.load("return 1", name: "t")().first?.integerValue == 1, "\(code)")
    }
  }

  /// Scripts that would run for ever, or take all memory, and the limits that end them.
  static let endless: [String] = [
    "while true do end", "repeat local ok = pcall(error) until false", "for i = 1, math.huge do end",
    "::a:: goto a", "while true do pcall(function() while true do end end) end",
    "while true do xpcall(function() error() end, function() while true do end end) end",
    "while true do coroutine.wrap(function() while true do end end)() end",
    "local t = setmetatable({}, { __close = function() while true do end end }) while true do local x <close> = t end",
    "setmetatable({}, { __index = function() while true do end end }).x = nil; return setmetatable({}, { __index = function() while true do end end }).x",
    "local t = {} for i = 1, 1e9 do t[i] = i end", "local t = {} while true do t = { t } end",
    "local s = 'x' while true do s = s .. s end", "while true do pcall(string.rep, 'x', 1e9) end",
    "local t = {} while true do t[#t + 1] = coroutine.create(print) end",
    "local t = {} for i = 1, 1000 do t[i] = ('x'):rep(1e5) end return table.concat(t)",
    "local t = {} for i = 1, 2e5 do t[i] = 1 end while true do table.insert(t, 1, 1) end",
    "local t = {} for i = 1, 2e5 do t[i] = i end while true do table.move(t, 1, 2e5, 2) end",
    "local t = {} while true do table.move(t, 1, 1e8, 2) end",
    "while true do table.unpack({}, 1, 1e5) end", "while true do load(('x = 1 '):rep(20000)) end",
    "return load(function() return 'x = 1 ' end)", "while true do string.format('%99.99f', 1e300) end",
    "table.sort({ 1, 2, 3 }, function() while true do end end)",
    "string.gsub('x', 'x', function() while true do end end)", "('a'):rep(20000):gsub('.-b', 'x')",
    "while true do print('x') end", "while true do pcall(print, ('x'):rep(1000)) end",
    "local a = {} for i = 1, 1e9 do a[#a + 1] = function() return i end end",
    "local co = coroutine.wrap(function() while true do coroutine.yield() end end) while true do co() end",
  ]

  @Test(arguments: sandboxed) func nothingRunsForEver(_ preset: LuaPreset) throws {
    for code in Self.endless {
      let state = try LuaState(preset: preset, limits: Self.limits)
      state.output = .none
      let error = #expect(throws: LuaError.self, "\(code)") { try state.load(code, name: "t")() }
      if let error { #expect(error.kind.limit != nil || error.message.contains("too large"), "\(code): \(error)") }
      state.collectGarbage()
      #expect(state.memoryUsed < 2 << 20, "\(code)")
      #expect(try state.load("return 1", name: "t")().first?.integerValue == 1, "\(code)")
    }
  }

  @Test func theFaultsOfLua544DoNotEndTheProcess() throws {
    let state = try LuaState(limits: LuaLimits(memory: 64 << 20, coroutines: 200_000))
    // Coroutines that close coroutines (fixed upstream in 5.4.5).
    let chain = """
      local last
      for i = 1, 100000 do
        local before = last
        last = coroutine.create(function()
          local x <close> = setmetatable({}, { __close = function() if before then coroutine.close(before) end end })
          coroutine.yield()
        end)
        coroutine.resume(last)
      end
      return coroutine.close(last)
      """
    _ = try? state.load(chain, name: "t")()
    // A long chain of fields in a failing expression (5.4.7): the source cap keeps it short.
    let fields = "local a = {} a.x = a return a" + String(repeating: ".x", count: 100_000) + " + 1"
    #expect(throws: LuaError.self) { try state.load(fields, name: "t")() }
    #expect(throws: LuaError.self) {
      try state.load("return load('local a = {} a.x = a return a' .. ('.x'):rep(20000) .. ' + 1')()", name: "t")()
    }
    // A collection for want of memory frees a metamethod in use (5.4.8): the soft limit comes first.
    let crowded = try LuaState(limits: LuaLimits(memory: 1 << 20))
    let weak = """
      while true do
        local mt = setmetatable({ __newindex = {} }, { __mode = 'v' })
        local t = setmetatable({}, mt)
        pcall(string.rep, 'x', 1 << 19)
        for i = 1, 1000 do t[i] = { i } end
        keep = { keep, t }
      end
      """
    let error = try #require(throws: LuaError.self) { try crowded.load(weak, name: "t")() }
    #expect(error.kind == .limit(.memory))
  }
}
