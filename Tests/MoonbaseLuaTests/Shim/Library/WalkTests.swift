import MoonbaseLua
import Testing

/// The order of `pairs` and `next` in preset `pure`.
@Suite struct WalkTests {
  /// Hashes of texts differ from run to run; the order must not.
  @Test func pureWalksTablesInOrder() throws {
    let state = try LuaState(preset: .pure)
    let source = """
      local t = { z = 1, a = 2, [3] = 3, ["a\\0b"] = 4, [1.5] = 5, [true] = 6, [false] = 7, [-1] = 8, aa = 9, [math.maxinteger] = 10,
        [math.maxinteger - 1] = 11}
      local walked, stepped = {}, {}
      for k, v in pairs(t) do walked[#walked + 1] = v end
      local k, v = next(t)
      while k ~= nil do stepped[#stepped + 1] = v k, v = next(t, k) end
      local numbers = {}
      for k in pairs({ 10, 20, 30 }) do numbers[#numbers + 1] = k end
      local u = { x = {}, [{}] = 1, [print] = 2 }
      local others = 0
      for k, v in pairs(u) do others = others + 1 u[k] = nil end
      local first
      for k in pairs(math) do first = first or k end
      for _ in next, u do error("emptied") end
      return table.concat(walked, " "), table.concat(stepped, " "), table.concat(numbers, " "), others, first, next({}) == nil
      """
    let results = try state.load(source, name: "t")()
    #expect(results[0].textValue == "8 5 3 11 10 2 4 9 1 7 6")
    #expect(results[1].textValue == results[0].textValue)
    #expect(results[2].textValue == "1 2 3")
    #expect(results[3].integerValue == 3)
    #expect(results[4].textValue == "abs")
    #expect(results[5].booleanValue == true)
  }
}
