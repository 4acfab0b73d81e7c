import MoonbaseLua
import Testing

/// The sandbox's own `table.concat` and `table.unpack`.
@Suite struct TableLibraryTests {
  @Test func concatAndUnpackGiveWhatLuaGives() throws {
    let state = try LuaState(preset: .standard)
    let results = try state.load(
      """
      local numbers = setmetatable({}, { __index = function(_, i) return i end, __len = function() return 600 end })
      local top = math.maxinteger
      return table.concat({}), table.concat({}, "-", 1, 0), table.concat({ "a", 2, 3.5 }, ", "), #table.concat(numbers, "-"),
        table.concat({ [top] = "x", [top - 1] = "y" }, "-", top - 1, top), select("#", table.unpack(numbers)),
        select(300, table.unpack(numbers, 1, 300)), (table.unpack({}, top, top)), select("#", table.unpack({}, 1, 0)),
        (select(2, pcall(table.concat, { 1, {}, 3 }))), (select(2, pcall(table.unpack, {}, 1, 1e8))),
        (select(2, pcall(table.unpack, {}, math.mininteger, top)))
      """, name: "t")()
    let long = (1...600).map(String.init).joined(separator: "-").utf8.count
    #expect(
      results.map(\.description) == [
        "", "", "a, 2, 3.5", "\(long)", "y-x", "600", "300", "nil", "0",
        "invalid value (table) at index 2 in table for 'concat'", "too many results to unpack",
        "too many results to unpack",
      ])
  }
}
