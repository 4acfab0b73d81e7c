import MoonbaseLua
import MoonbasePlatform
import Testing

/// The line numbers of keys in returned tables.
@Suite struct TableLineTests {
  @Test func keysOfReturnedTablesHaveLines() {
    let lines = LuaTableLines(
      LuaSource(
        """
        local Color = { a = 1 }
        -- return { wrong = 1 }
        return {
          name = "x", version = [[
            long { } ]],
          entities = {
            Person = {
              derived = {
                ["full name"] = { get = function(a, b)
                  if a then return { z = 1 } end
                  return a, b
                end, inputs = { "a",
                  "b" } },
              },
              validate = { age = function(v) return v < 140, "no" end },
            },
          },
        }
        """, name: "t.lua"))
    #expect(lines.line(of: ["name"]) == 4)
    #expect(lines.line(of: ["version"]) == 4)
    #expect(lines.line(of: ["entities", "Person"]) == 7)
    #expect(lines.line(of: ["entities", "Person", "derived", "full name"]) == 9)
    #expect(lines.line(of: ["entities", "Person", "derived", "full name", "inputs", "2"]) == 13)
    #expect(lines.line(of: ["entities", "Person", "validate", "age"]) == 15)
    #expect(lines.line(of: ["entities", "Person", "nowhere"]) == 7)
    #expect(lines.exactLine(of: ["wrong"]) == nil)
  }

  @Test func aNamedTableIsFound() {
    let lines = LuaTableLines(LuaSource("local M = {\n a = 1,\n b = { c = 2 } }\nreturn M", name: "t"))
    #expect(lines.line(of: ["b", "c"]) == 3)
  }
}
