import MoonbaseLua
import Testing

/// Compares the sandbox's `utf8` with the system library's, which the preset `trusted` keeps.
@Suite struct UTF8LibraryTests {
  @Test func lengthsAreThoseOfTheSystemLibrary() throws {
    let script = """
      local state = 1
      local function random(n) state = (state * 1103515245 + 12345) % 2147483648 return (state // 65536) % n + 1 end
      local pieces = { "a", "bc", "0123456789abcdef", "\\u{e9}", "\\u{20ac}", "\\u{1f600}", "\\u{7fffffff}", "\\u{d800}",
        "\\0", "\\x80", "\\xc0\\x80", "\\xff", "\\xe2\\x82" }
      local function length(...)
        local count, place = utf8.len(...)
        return count, place
      end
      local out = {}
      for i = 1, 20000 do
        local t = {}
        for j = 1, random(8) do t[j] = pieces[random(random(3) == 1 and #pieces or 6)] end
        local text = table.concat(t)
        for _, arguments in ipairs { {}, { random(40) - 20 }, { random(40) - 20, random(40) - 20 }, { 1, -1, true } } do
          local result = { pcall(length, text, table.unpack(arguments)) }
          for k = 1, 3 do result[k] = tostring(result[k]) end
          out[#out + 1] = table.concat(result, " ")
        end
      end
      return table.concat(out, "\\n")
      """
    try expectWhatTheSystemLibraryGives(script)
  }
}
