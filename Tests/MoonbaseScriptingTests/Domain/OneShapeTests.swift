import MoonbaseModel
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Consistent conventions: `parse` returns nil and an error, constructors raise, and lists are accepted where objects
/// are.
@Suite struct OneShapeTests {
  @Test func parseGivesNilAndAnErrorAndConstructorsRaise() throws {
    let lines = try ScriptBench().lines(
      """
      local good = { date = "2024-02-29", decimal = "12.50", uuid = "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", uri = "https://example.org/a" }
      for _, name in ipairs { "date", "decimal", "uuid", "uri" } do
        local constructor = moonbase[name]
        assert(constructor(good[name]) == constructor.parse(good[name]))
        for _, text in ipairs { "", "a b", ("x"):rep(1000) } do
          if name ~= "uri" or text == "a b" then
            local value, err = constructor.parse(text)
            assert(value == nil and err.code == 2048 or print(name, text, value, err and err.code))
            local ok, raised = pcall(constructor, text)
            assert(not ok and raised.message:find("bad argument #1 to '" .. name .. "'", 1, true) or print(name, raised))
          end
        end
        print(name, select(2, constructor.parse("a b")).message, pcall(constructor.parse))
      end
      print(moonbase.decimal(3) + 1, tostring(moonbase.uuid()):len(), pcall(moonbase.uri))
      """)
    #expect(lines[0].hasPrefix("date\t'a b' is no date of the forms 2024-02-29"), "\(lines)")
    #expect(lines[1].hasPrefix("decimal\t'a b' is no decimal such as 12.50\tfalse"), "\(lines)")
    #expect(lines[2].hasPrefix("uuid\t'a b' is no UUID such as"), "\(lines)")
    #expect(lines[3].hasPrefix("uri\t'a b' is no URI such as https://example.org/a"), "\(lines)")
    #expect(lines[4].hasPrefix("4\t36\tfalse"), "\(lines)")
  }

  /// In scripts and in extensions, whichever loads the module first.
  @Test func datesAreOneModule() throws {
    let file = """
      local early = moonbase.date
      return { entities = { P = { methods = { dates = function() return moonbase.date, early, require "moonbase.date" end } } },
        transformers = { T = { transform = tostring, reverse = function(b) return b end } } }
      """
    let lines = try ScriptBench(.memory, model: ThingBench.model, extensions: [file]).lines(
      """
      local a, b, c = context:insert("P"):dates()
      local module = require "moonbase.date"
      print(module == moonbase.date, a == module, b == module, c == module)
      print(moonbase.date.is_leap(2024), module.parse("2024-02-29") == moonbase.date.parse("2024-02-29"), module.now() ~= nil)
      print(pcall(function() moonbase.date.now = 1 end))
      """, leavingChanges: true)
    #expect(lines[0] == "true\ttrue\ttrue\ttrue" && lines[1] == "true\ttrue\ttrue", "\(lines)")
    #expect(lines[2].hasPrefix("false"))
  }

  @Test(arguments: StoreKind.allCases) func attributesOfURIsTakeText(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      local p = context:insert("Person", { page = "https://example.org/a" })
      assert(context:save())
      context:refresh(p, false)
      print(p.page, p.page == moonbase.uri("https://example.org/a"))
      print(select(2, pcall(function() p.page = "a b" end)))
      p.page = "https://example.org/b"
      print(context:save(), p.page)
      """)
    #expect(lines[0] == "https://example.org/a\ttrue" && lines[2] == "true\thttps://example.org/b", "\(lines)")
    #expect(lines[1].contains("Person.page: takes a URI, not string 'a b'; the text is no URI"), "\(lines)")
  }

  @Test(arguments: StoreKind.allCases) func listsStandWhereObjectsMay(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      local people = {}
      for i = 1, 6 do people[i] = context:insert("Person", { age = i }) end
      local a = people[1]
      a.friends:add(people[2], { people[3], people[4] }, {})
      print(#a.friends)
      a.friends:remove({ people[2] }, people[3])
      print(#a.friends, a.friends:contains(people[4]))
      people[5].friends:add(a.friends)
      print(#people[5].friends)
      assert(context:save())
      for _, p in ipairs(people) do p.age = 100 end
      context:refresh({ people[1], people[2] }, false)
      print(people[1].age, people[2].age, people[3].age)
      context:delete(people[6], { people[2], people[3] })
      context:delete(context:fetch("Person"):where("age = 1"):all())
      print(context:fetch("Person"):count())
      context:delete(people[5].friends)
      print(context:fetch("Person"):count(), people[4]:is_deleted())
      print(pcall(context.delete, context, { people[5], people }))
      assert(context:save())
      """)
    #expect(
      Array(lines.prefix(6)) == ["3", "1\ttrue", "1", "1\t2\t100", "2", "1\ttrue"], "\(lines)")
    #expect(lines[6].contains("element 2 is a table"), "\(lines)")
  }

  /// These are properties, as those of contexts and IDs; the former methods are aliases.
  @Test func hasChangesAndEntityAreProperties() throws {
    let lines = try ScriptBench().lines(
      """
      local p = context:insert("Employee", { firstName = "Ann" })
      print(context.has_changes, context:has_changes(), p.has_changes, p:has_changes(), moonbase.object.has_changes(p))
      assert(context:save())
      print(context.has_changes, context:has_changes(), p.has_changes, p:has_changes(), moonbase.object.has_changes(p))
      print(p.entity, p:entity(), p:id().entity, p:id():entity(), moonbase.object.entity(p))
      local function tail() return p:has_changes() end
      print(tail(), p.firstName, pcall(function() return p:firstName() end))
      for _, call in ipairs {
        function() return p.has_changes() end, function() return p:has_changes(1) end, function() return ("x")() end,
        function() return pcall(true) end, function() return p.has_changes(p) end,
      } do print((select(2, pcall(call)))) end
      print(getmetatable(true), getmetatable(""))
      """)
    try #require(lines.count == 10, "\(lines)")
    #expect(lines[0] == "true\ttrue\ttrue\ttrue\ttrue" && lines[1] == "false\tfalse\tfalse\tfalse\tfalse", "\(lines)")
    #expect(lines[2] == "Employee\tEmployee\tEmployee\tEmployee\tEmployee", "\(lines)")
    #expect(
      lines[3].hasPrefix("false\tAnn\tfalse\t")
        && lines[3].hasSuffix("attempt to call a string value (method 'firstName')"))
    #expect(lines[4].hasSuffix("attempt to call a boolean value (field 'has_changes')"), "\(lines)")
    #expect(lines[5].hasSuffix("attempt to call a boolean value (method 'has_changes')"), "\(lines)")
    #expect(lines[6].hasSuffix("attempt to call a string value (constant 'x')"), "\(lines)")
    #expect(
      lines[7] == "false" && lines[8].hasSuffix("attempt to call a boolean value (field 'has_changes')"), "\(lines)")
    #expect(lines[9] == "false\tfalse", "\(lines)")
  }

  /// A property of the model takes precedence.
  @Test func aPropertyOfTheModelWins() throws {
    let model = "return { entities = { P = { attributes = { has_changes = 'string' } } } }"
    let lines = try ScriptBench(.memory, model: model, extensions: []).lines(
      """
      local p = context:insert("P", { has_changes = "mine" })
      print(p.has_changes, p.entity, moonbase.object.has_changes(p), moonbase.object.entity(p))
      """, leavingChanges: true)
    #expect(lines == ["mine\tP\ttrue\tP"])
  }
}
