import MoonbaseLua
import Testing

/// Tables as Swift reads them.
@Suite struct TableTests {
  /// Lua's length of such a table is 2^62.
  @Test func elementsEndWhereOneIsMissing() throws {
    let state = try LuaState()
    let chunk = try state.load("local t = {} for i = 0, 62 do t[1 << i] = i end return t", name: "sparse.lua")
    let table = try #require(try chunk.first().tableValue)
    #expect(try table.elements.compactMap(\.integerValue) == [0, 1])
    #expect(try table.count > 2)
  }
}
