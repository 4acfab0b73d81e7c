import MoonbaseLua
import Testing

@Suite struct SortTests {
  /// The sandbox's own `table.sort` gives the same results as the system library's.
  @Test func tablesAreSortedAsTheSystemLibrarySortsThem() throws {
    let source = """
      local seed, all = ..., {}
      local function random(n) seed = (seed * 1103515245 + 12345) % 2147483648 return seed // 65536 % n end
      for round = 1, 300 do
        local t, kind, n = {}, round % 5, random(round < 20 and 4 or 200)
        for i = 1, n do
          t[i] = kind == 0 and i or kind == 1 and n - i or kind == 2 and random(10) or kind == 3 and random(1000) + 0.5
            or "k" .. random(1000)
        end
        table.sort(t, round % 2 == 0 and function(a, b) return a > b end or nil)
        all[#all + 1] = table.concat(t, " ")
      end
      return table.concat(all, "\\n")
      """
    let pure = try LuaState(preset: .pure)
    let trusted = try LuaState(preset: .trusted)
    let ours = try pure.load(source, name: "sort").first(7).textValue
    let theirs = try trusted.load(source, name: "sort").first(7).textValue
    #expect(ours == theirs)
    #expect((ours?.count ?? 0) > 50_000)
  }

  @Test func equalElementsKeepTheirOrder() throws {
    let source = """
      local t = {}
      for i = 1, 1000 do t[i] = { key = i * 7 % 10, place = i } end
      table.sort(t, function(a, b) return a.key < b.key end)
      for i = 2, 1000 do
        local a, b = t[i - 1], t[i]
        assert(a.key < b.key or a.key == b.key and a.place < b.place)
      end
      """
    let state = try LuaState(preset: .pure)
    _ = try state.load(source, name: "sort")()
  }

  @Test func sortIsAsStrictAsTheSystemLibrary() throws {
    for code in [
      "table.sort()", "table.sort(1)", "table.sort({ 1, 'a' })", "table.sort({ 1, 2 }, 1)", "table.sort({ 2, {} })",
      "table.sort({ 3, 2, 1 }, function() error('no') end)",
      "table.sort(setmetatable({}, { __len = function() return 'x' end }))",
      "table.sort(setmetatable({}, { __len = function() return 2 ^ 31 end }))",
    ] {
      let messages = try [LuaPreset.standard, .trusted].map { preset in
        let state = try LuaState(preset: preset)
        let error = try #require(throws: LuaError.self, "\(code)") { try state.load(code, name: "t")() }
        return error.message
      }
      #expect(messages[0] == messages[1], "\(code)")
    }
    let proxied = """
      local real, seen = { 3, 1, 2 }, 0
      local proxy = setmetatable({}, {
        __len = function() return #real end, __index = function(_, i) return real[i] end,
        __newindex = function(_, i, v) seen = seen + 1 real[i] = v end,
      })
      table.sort(proxy)
      return table.concat(real, ",")
      """
    let state = try LuaState()
    #expect(try state.load(proxied, name: "t").first().textValue == "1,2,3")
  }
}
