import MoonbaseLua
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Compares the pattern matcher with the system library's, which the preset `trusted` keeps.
@Suite struct PatternTests {
  @Test func patternsMatchAsTheyDoInTheSystemLibrary() throws {
    let script = """
      local seed, count = ...
      local state = seed
      local function random(n) state = (state * 1103515245 + 12345) % 2147483648 return (state // 65536) % n + 1 end
      local pieces = { "a", "b", ".", "%a", "%d", "%s", "%w", "%W", "[ab]", "[^a]", "[a-c]", "[%d_]", "[]a]", "[^]]",
        "x", "(", ")", "()", "%b()", "%bxy", "%f[%w]", "%f[^a]", "%1", "%2", "^", "$", "%", "[", "%.", "\\0", "(a*)", "(.-)",
        "ab", "aba", "xy", "b%.", "%l", "%P", "[%u%D]", "[^%s]", "[a-z1]", "[-a]", "[a-]", "%-" }
      local suffixes = { "", "", "", "", "*", "+", "-", "?" }
      local letters = { "a", "a", "b", "c", "x", "y", "(", ")", "1", "_", " ", "]", "%", ".", "\\0", "\\xff", "ab", "aba" }
      local function text(source, most, with)
        local t = {}
        for i = 1, random(most + 1) - 1 do t[i] = source[random(#source)] .. (with and with[random(#with)] or "") end
        return table.concat(t)
      end
      local function show(ok, ...)
        local t = { n = select('#', ...), ... }
        for i = 1, t.n do t[i] = type(t[i]) .. ":" .. tostring(t[i]):gsub("^.-: ", ok and "%0" or "") end
        return tostring(ok) .. " " .. table.concat(t, ",")
      end
      local function all(s, p)
        local t = {}
        for a, b in string.gmatch(s, p) do t[#t + 1] = tostring(a) .. "/" .. tostring(b) end
        return table.concat(t, ";")
      end
      local out = {}
      for i = 1, count do
        local s, p = text(letters, 12), text(pieces, 5, suffixes)
        out[i] = table.concat({ p, s,
          show(pcall(string.find, s, p)), show(pcall(string.match, s, p, random(6) - 3)),
          show(pcall(string.gsub, s, p, "<%0%1>")), show(pcall(string.gsub, s, p, "%2%%")),
          show(pcall(string.gsub, s, p, { a = 1, b = false })),
          show(pcall(string.gsub, s, p, function(x, y) return y end)), show(pcall(all, s, p)),
        }, "\\1")
      end
      return table.concat(out, "\\2")
      """
    let ours = try LuaState(preset: .standard, limits: .none)
    let theirs = try LuaState(preset: .trusted, limits: .none)
    let mine = try ours.load(script, name: "p.lua")
    let system = try theirs.load(script, name: "p.lua")
    for seed in 1...Repetition.patternSeeds.count {
      let a = try #require(try mine.first(.integer(Int64(seed)), 2_500).stringValue).bytes.split(separator: 2)
      let b = try #require(try system.first(.integer(Int64(seed)), 2_500).stringValue).bytes.split(separator: 2)
      #expect(a.count == 2_500)
      for (one, other) in zip(a, b) where one != other {
        Issue.record("\(String(decoding: one, as: UTF8.self)) is not \(String(decoding: other, as: UTF8.self))")
      }
    }
  }

  /// Every byte with every class, alone, in a set and repeated.
  @Test func classesAreThoseOfTheSystemLibrary() throws {
    let script = """
      local bytes, out = {}, {}
      for byte = 0, 255 do bytes[#bytes + 1] = string.char(byte) end
      bytes = table.concat(bytes)
      for letter = 33, 126 do
        local class = "%" .. string.char(letter)
        for _, pattern in ipairs { class, "[" .. class .. "]", "[^" .. class .. "_]*", class .. "*" } do
          out[#out + 1] = pattern .. table.concat({ pcall(string.gsub, bytes, pattern, "<%0>") }, " ", 2)
        end
      end
      return table.concat(out, "\\n")
      """
    try expectWhatTheSystemLibraryGives(script)
  }

  /// The search compares sixteen positions at a time, so the texts have every length around the special widths.
  @Test func plainTextsAreFoundWhereTheSystemLibraryFindsThem() throws {
    let script = """
      local out, state = {}, 1
      local function random(n) state = (state * 1103515245 + 12345) % 2147483648 return (state // 65536) % n + 1 end
      for length = 0, 80 do
        for wanted = 0, 40 do
          local t = {}
          for i = 1, length do t[i] = random(8) == 1 and "b" or "a" end
          local text = table.concat(t)
          local from = random(length + 2)
          local part = random(2) == 1 and text:sub(from, from + wanted - 1) or ("a"):rep(wanted)
          out[#out + 1] = table.concat({ tostring(text:find(part, 1, true)), tostring(text:find(part, from, true)),
            tostring(text:match(part .. "()")), (text:gsub(part, "<c>")), (text:gsub(part, "%0%0")) }, " ")
        end
      end
      return table.concat(out, "\\n")
      """
    try expectWhatTheSystemLibraryGives(script)
  }

  @Test func patternBombsEndInTime() throws {
    let state = try LuaState(limits: LuaLimits(instructions: 1_000_000))
    for code in [
      "return ('a'):rep(40):find(('a-'):rep(8) .. 'b')", "return ('a'):rep(20000):gsub('.-b', '')",
      "for w in ('a'):rep(40):gmatch(('a-'):rep(8) .. 'b') do end", "return ('a'):rep(40):match(('a?'):rep(60) .. 'b')",
      "while true do pcall(string.find, ('a'):rep(40), ('a-'):rep(8) .. 'b') end",
    ] {
      let error = try #require(throws: LuaError.self) { try state.load(code, name: "t")() }
      #expect(error.kind == .limit(.instructions), "\(code): \(error)")
    }
  }
}
