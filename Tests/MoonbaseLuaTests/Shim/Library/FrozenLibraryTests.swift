import MoonbaseLua
import Testing

/// Libraries are proxies in a sandbox; raw reads give the same results as for plain tables.
@Suite struct FrozenLibraryTests {
  @Test(arguments: [LuaPreset.pure, .standard, .compat]) func rawAccessSeesTheFunctions(_ preset: LuaPreset) throws {
    let state = try LuaState(preset: preset)
    let results = try state.run {
      try state.load(
        """
        local names, count = {}, 0
        for name in pairs(string) do names[name] = true end
        for name, value in next, string do
          assert(names[name] and string[name] == value and rawget(string, name) == value)
          count = count + 1
        end
        for _ in pairs(string) do count = count - 1 end
        local t = setmetatable({ 1, 2, x = 3 }, { __index = { y = 4 }, __len = function() return 9 end })
        local key, value = next({ z = 5 })
        return rawget(table, "unpack") == table.unpack, next(string) ~= nil, count, rawget(t, "x"), rawget(t, "y"),
          rawlen(t), rawlen("abc"), key, value, next({}), pcall(rawset, table, "unpack", print)
        """, name: "x"
      ).call([])
    }
    #expect(
      results.prefix(11).map(\.description) == ["true", "true", "0", "3", "nil", "2", "3", "z", "5", "nil", "false"])
  }

  @Test func librariesAreFrozen() throws {
    let state = try LuaState()
    for code in [
      "string.rep = nil", "rawset(string, 'rep', 1)", "getmetatable('').__index = {}", "setmetatable(string, nil)",
      "table.insert(string, 1)", "local _ENV = math; floor = 1",
    ] {
      #expect(throws: LuaError.self, "\(code)") { try state.load(code, name: "t")() }
    }
    #expect(try state.load("return ('ab'):rep(2), string.rep('a', 2)", name: "t")().first?.textValue == "abab")
  }
}
