import MoonbaseTestSupport
import Testing

/// Lists, maps and composites of attributes are readable as tables; changing them in place is an error.
@Suite struct FrozenValueTests {
  private static let model = """
    return {
      entities = {
        P = {
          attributes = {
            tags = "transformable", any = { "undefined", transient = true }, s = "string",
            place = { "composite", elements = { city = "string", at = { "composite", elements = { x = "double" } } } },
          },
        },
      },
    }
    """

  private static let values = """
    tags = { "b", "a", { deep = { 1, 2 }, empty = moonbase.null }, 7 },
    any = { list = { "c" } }, place = { city = "Rome", at = { x = 1.5 } }
    """

  private func lines(_ kind: StoreKind, _ hooks: String = "", _ script: String) throws -> [String] {
    let file = "return { name = 'x', entities = { P = { \(hooks) } } }"
    return try ScriptBench(kind, model: Self.model, extensions: [file]).lines(
      "local p = context:insert('P', { \(Self.values) })\n" + script, leavingChanges: true)
  }

  /// Ways of changing a table in place, all of which are refused.
  private static let changes = [
    "p.tags[1] = 'x'", "p.tags[9] = 'x'", "p.tags[3].deep[1] = 9", "p.tags[3].new = 9", "table.insert(p.tags, 'x')",
    "table.insert(p.tags, 1, 'x')", "table.remove(p.tags)",
    "table.sort(p.tags[3].deep, function(a, b) return a > b end)",
    "table.move({ 9 }, 1, 1, 1, p.tags)", "rawset(p.tags, 1, 'x')", "rawset(p.tags[3], 'deep', 1)", "p.tags[1] = nil",
    "p:primitive('tags')[1] = 'x'", "for k, v in pairs(p) do if k == 'tags' then v[1] = 'x' end end",
    "setmetatable(p.tags, {})",
  ]

  @Test(arguments: StoreKind.allCases) func aChangeInPlaceIsAnError(_ kind: StoreKind) throws {
    let calls = Self.changes.map { "function() \($0) end" }.joined(separator: ", ")
    let lines = try lines(
      kind, "",
      """
      assert(context:save()) context:refresh(p, false)
      for i, f in ipairs { \(calls) } do
        local ok, err = pcall(f)
        if ok or not tostring(err):find("frozen") and not tostring(err):find("protected") then print(i, ok, err) end
      end
      print(pcall(function() p.tags[1] = "x" end))
      print(pcall(function() p.place.at.x = 2 end))
      print(pcall(function() p.place.city = "Oslo" end))
      print(pcall(function() p.any.list[1] = "d" end))
      print(p.tags[1], p.tags[3].deep[1], p.place.at.x, context.has_changes)
      """)
    #expect(
      lines.first
        == "false\tscript.lua:9: P.tags: what an attribute returns is frozen, because a change in place would be lost: assign a changed copy: "
        + "local t = moonbase.copy(p.tags)")
    #expect(lines.dropFirst().prefix(2).allSatisfy { $0.contains("moonbase.copy(p.place)") }, "\(lines)")
    #expect(lines.count == 5 && lines.last?.hasPrefix("b\t1\t1.5") == true, "\(lines)")
  }

  @Test(arguments: StoreKind.allCases) func aFrozenValueIsReadAsATable(_ kind: StoreKind) throws {
    let lines = try lines(
      kind, "",
      """
      local json = require "moonbase.json"
      local t = p.tags
      local keys = {}
      for i, v in ipairs(t) do keys[#keys + 1] = i .. type(v) end
      print(table.concat(keys, " "), #t, #t[3].deep, rawlen(t), rawget(t, 1), type(t))
      print(next(t), select("#", table.unpack(t)), table.concat(t[3].deep, "+"), t[3].empty == moonbase.null)
      local count = 0
      for k, v in pairs(t[3]) do count = count + 1 end
      for k, v in next, t[3] do count = count + 1 end
      print(count, t.absent, json.encode(p.place), json.encode(t[3].deep), json.encode(p.any.list))
      local copy = moonbase.copy(t)
      copy[1], copy[3].deep[1] = "x", 5
      table.insert(copy, "end")
      print(json.encode(copy), t[1], moonbase.copy(1), moonbase.copy(nil))
      -- Assigned again it is the same value, and to another object an equal one.
      assert(context:save())
      p.tags = p.tags
      print(p:has_changes())
      local q = context:insert("P", { tags = p.tags, place = p.place, s = "q" })
      print(json.encode(q.tags) == json.encode(p.tags), json.encode(q.place), q.any)
      p.tags = copy
      print(json.encode(p.tags), p:has_changes())
      p.tags = {}
      print(#p.tags, json.encode(p.tags), json.encode(moonbase.copy(p.tags)))
      """)
    #expect(
      lines == [
        "1string 2string 3table 4number\t4\t2\t4\tb\ttable", "1\t4\t1+2\ttrue",
        "4\tnil\t{\"at\":{\"x\":1.5},\"city\":\"Rome\"}\t[1,2]\t[\"c\"]",
        "[\"x\",\"a\",{\"deep\":[5,2],\"empty\":null},7,\"end\"]\tb\t1\tnil", "false",
        "true\t{\"at\":{\"x\":1.5},\"city\":\"Rome\"}\tnil",
        "[\"x\",\"a\",{\"deep\":[5,2],\"empty\":null},7,\"end\"]\ttrue", "0\t[]\t[]",
      ], "\(lines)")
  }

  @Test(arguments: StoreKind.allCases) func aRuleGetsAFrozenValueAndANormalizerItsOwn(_ kind: StoreKind) throws {
    let hooks = """
      normalize = { tags = function(tags) table.insert(tags, "last") return tags end },
      validate = { tags = function(tags, p) tags[1] = "x" return true end }
      """
    let lines = try lines(
      kind, hooks,
      """
      print(p.tags[#p.tags])
      print(context:save())
      """)
    #expect(lines.first == "last" || lines.first == "7")
    #expect(lines.last?.contains("moonbase.copy(p.tags)") == true, "\(lines)")
  }
}
